package raster

import (
	"syscall"
	"unsafe"
)

// AdviseHugePages requests huge pages for the whole pages inside b. The system may
// ignore it.
func AdviseHugePages(b []byte) {
	page := syscall.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if n := (len(b) - skip) &^ (page - 1); n > 0 {
		_ = syscall.Madvise(b[skip:skip+n], syscall.MADV_HUGEPAGE)
	}
}
