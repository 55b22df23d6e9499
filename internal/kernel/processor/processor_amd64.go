//go:build amd64 && !noasm

package processor

import "golang.org/x/sys/cpu"

func hasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasBMI2 }

// hasAVX512 asks for the F, BW, DQ and VL parts together.
func hasAVX512() bool {
	x := &cpu.X86
	return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL
}

// LacksDots reports whether a level has kernels by dot products of bytes that this machine
// cannot run: VNNI came later than the rest of AVX-512. The kernels of the level below take
// their place.
func LacksDots(l Level) bool { return l == AVX512 && !cpu.X86.HasAVX512VNNI }

// LastLevelCache returns the size of the largest cache in bytes, 0 if unknown.
func LastLevelCache() int { return lastLevelCache }

// lastLevelCache asks as Intel and AMD document it: a leaf lists the caches,
// 4 at one and 0x8000001D, in the same format, at the other.
var lastLevelCache = func() (largest int) {
	leaves := []uint32{4, 0x8000001d}
	for _, leaf := range leaves {
		if last, _, _, _ := cpuid(leaf&0x80000000, 0); last < leaf {
			continue
		}
		for sub := range uint32(8) {
			eax, ebx, ecx, _ := cpuid(leaf, sub)
			if eax&31 == 0 {
				break
			}
			ways, partitions, line := ebx>>22+1, ebx>>12&0x3ff+1, ebx&0xfff+1
			largest = max(largest, int(ways)*int(partitions)*int(line)*(int(ecx)+1))
		}
	}
	return largest
}()

// Pause tells the processor that the caller is polling.
func Pause() { pause() }

// StoreFence lets what was written past the caches arrive before anything that
// is written later.
func StoreFence() { storeFence() }
