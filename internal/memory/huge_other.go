//go:build !linux

package memory

// AdviseHugePages asks for huge pages under b, where that is known how.
func AdviseHugePages([]byte) {}
