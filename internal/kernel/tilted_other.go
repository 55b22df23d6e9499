//go:build !amd64 || noasm

package kernel

// tiltedAssemblies is empty on machines without assembly.
var tiltedAssemblies []any
