package boxsum

import (
	"math"
	"syscall"
	"unsafe"
)

// memory is how many bytes the machine has, swap included.
func memory() uint64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return math.MaxInt
	}
	return min(math.MaxInt, (uint64(info.Totalram)+uint64(info.Totalswap))*uint64(max(info.Unit, 1)))
}

// adviseHugePages asks for huge pages under the whole pages inside b. It is
// advice: where the system has none to give, nothing changes.
func adviseHugePages(b []byte) {
	page := syscall.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if n := (len(b) - skip) &^ (page - 1); n > 0 {
		_ = syscall.Madvise(b[skip:skip+n], syscall.MADV_HUGEPAGE)
	}
}
