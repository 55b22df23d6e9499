//go:build !nogpu

package driver

// Drivers is those of all kinds.
var Drivers = []Driver{
	{CUDA, cudaDevices, openCUDA, openOwnCUDA},
	{OpenCL, openCLDevices, openOpenCL, openOpenCL},
}
