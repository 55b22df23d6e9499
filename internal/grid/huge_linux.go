package grid

import (
	"syscall"
	"unsafe"
)

// AdviseHugePages asks for huge pages under the whole pages inside b. It is
// advice: where the system has none to give, nothing changes.
func AdviseHugePages(b []byte) {
	page := syscall.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if n := (len(b) - skip) &^ (page - 1); n > 0 {
		_ = syscall.Madvise(b[skip:skip+n], syscall.MADV_HUGEPAGE)
	}
}
