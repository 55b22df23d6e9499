//go:build !amd64 || noasm

package kernel

// volumeAssembly is the portable loop on machines without assembly.
func volumeAssembly[P Pixel, S Sum](_ bool, portable VolumeFunc[P, S]) (avx2, avx512 VolumeFunc[P, S]) {
	return portable, portable
}
