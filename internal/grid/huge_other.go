//go:build !linux

package grid

// AdviseHugePages asks for huge pages under b, where that is known how.
func AdviseHugePages([]byte) {}
