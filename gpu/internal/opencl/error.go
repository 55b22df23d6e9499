package opencl

import "fmt"

// A Code is an OpenCL error code.
type Code int32

// Codes that callers act on.
const (
	DeviceNotFound       Code = -1
	MemObjectAllocation  Code = -4
	OutOfResources       Code = -5
	OutOfHostMemory      Code = -6
	BuildProgramFailure  Code = -11
	InvalidBinary        Code = -42
	InvalidWorkGroupSize Code = -54
	InvalidBufferSize    Code = -61
	PlatformNotFound     Code = -1001
)

var codes = map[Code]string{
	DeviceNotFound:       "no device",
	-2:                   "device not available",
	-3:                   "compiler not available",
	MemObjectAllocation:  "memory allocation failure",
	OutOfResources:       "out of resources",
	OutOfHostMemory:      "out of host memory",
	-7:                   "no profiling information",
	-8:                   "copy overlaps",
	BuildProgramFailure:  "program does not build",
	-12:                  "map failure",
	-14:                  "a command before this one failed",
	-30:                  "invalid value",
	-33:                  "invalid device",
	-34:                  "invalid context",
	-36:                  "invalid command queue",
	-37:                  "invalid host pointer",
	-38:                  "invalid memory object",
	InvalidBinary:        "invalid binary",
	-43:                  "invalid build options",
	-44:                  "invalid program",
	-45:                  "program not built",
	-46:                  "no such kernel",
	-48:                  "invalid kernel",
	-49:                  "invalid argument index",
	-50:                  "invalid argument value",
	-51:                  "invalid argument size",
	-52:                  "arguments missing",
	InvalidWorkGroupSize: "invalid work-group size",
	-55:                  "invalid work-item size",
	-58:                  "invalid event",
	-59:                  "invalid operation",
	InvalidBufferSize:    "invalid buffer size",
	-63:                  "invalid global work size",
	PlatformNotFound:     "no OpenCL driver is installed",
}

func (c Code) String() string {
	if s, ok := codes[c]; ok {
		return s
	}
	return fmt.Sprintf("error %d", int32(c))
}

// An Error is a failed call of an OpenCL function.
type Error struct {
	Function string
	Code     Code
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v (%d)", e.Function, e.Code, int32(e.Code)) }
