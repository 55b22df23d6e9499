//go:build !linux

package raster

// AdviseHugePages requests huge pages for b on systems where that is implemented.
func AdviseHugePages([]byte) {}
