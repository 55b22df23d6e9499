//go:build nogpu || !(darwin || windows || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package driver

import "github.com/boxsum/boxsum/gpu/internal/dynamic"

// Drivers lists drivers that always fail, so that nothing that opens devices is linked.
var Drivers = []Driver{
	{CUDA, noDevices, refuse, refuse},
	{OpenCL, noDevices, refuse, refuse},
}

func noDevices() ([]Info, error) { return nil, dynamic.ErrNone }

func refuse(Info) (Backend, error) { return nil, dynamic.ErrNone }
