//go:build !linux

package boxsum

func adviseHugePages([]byte) {}
