//go:build amd64 && !noasm

package processor

import "golang.org/x/sys/cpu"

func hasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasBMI2 }

// hasAVX512 reports whether the machine has the subsets F, BW, DQ and VL of AVX-512.
func hasAVX512() bool {
	x := &cpu.X86
	return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL
}

// LacksDots reports whether a level has dot-product kernels that this machine cannot run, because
// VNNI is newer than the rest of AVX-512. The kernels of the level below replace them.
func LacksDots(l Level) bool { return l == AVX512 && !cpu.X86.HasAVX512VNNI }

// Fuses reports whether the machine has fused multiply-adds, which processors with AVX2 may lack.
func Fuses() bool { return cpu.X86.HasFMA }

// LastLevelCache returns the size of the largest cache in bytes, or 0 if unknown.
func LastLevelCache() int { return lastLevelCache }

// lastLevelCache queries CPUID as Intel and AMD document it. A leaf lists the caches in the same
// format for both: leaf 4 on Intel and leaf 0x8000001D on AMD.
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

// StoreFence orders non-temporal stores before all later stores.
func StoreFence() { storeFence() }
