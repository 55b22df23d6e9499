package match_test

import "github.com/boxsum/boxsum/internal/ref"

func init() { ref.ManyProcessors() }
