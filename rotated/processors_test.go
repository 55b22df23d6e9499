package rotated_test

import "github.com/boxsum/boxsum/internal/ref"

func init() { ref.ManyProcessors() }
