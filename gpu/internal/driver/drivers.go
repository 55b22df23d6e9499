//go:build !nogpu && (darwin || windows || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package driver

// Drivers lists the drivers of all kinds.
var Drivers = []Driver{
	{CUDA, cudaDevices, openCUDA, openOwnCUDA},
	{OpenCL, openCLDevices, openOpenCL, openOpenCL},
}
