package engine

import "github.com/boxsum/boxsum/internal/ref"

func init() { ref.ManyProcessors() }
