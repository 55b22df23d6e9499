package kernels

import (
	"bytes"
	"slices"
	"testing"
)

// Packing leaves kernels what they are: only names of registers and labels change, each to one other.
func TestPack(t *testing.T) {
	ptx := []byte("// by nvcc\n.version 7.1\n.visible .entry one(\n\t.param .u64 p\n)\n{\n\t.reg .pred \t%p<2>;\n\t.reg .b32 \t%r<14>;\n" +
		"\tmov.u32 \t%r7, %tid.x;\n\tmov.u64 \tx, %clock64;\n\tadd.s32 \t%r9, %r7, %r9;\n\tsetp.eq.s32 \t%p1, %r9, %r7;\n\t@%p1 bra \t$L__BB12_3;\n" +
		"\tbra.uni \t$L__BB12_1;\n$L__BB12_3:\n$L__BB12_1:\n\tret;\n}\n")
	want := "// by nvcc\n.version 7.1\n.visible .entry one(\n\t.param .u64 p\n)\n{\n\t.reg .pred \t%p<2>;\n\t.reg .b32 \t%r<14>;\n" +
		"\tmov.u32 \t%r0, %tid.x;\n\tmov.u64 \tx, %clock64;\n\tadd.s32 \t%r1, %r0, %r1;\n\tsetp.eq.s32 \t%p0, %r1, %r0;\n\t@%p0 bra \t$L__BB_3;\n" +
		"\tbra.uni \t$L__BB_1;\n$L__BB_3:\n$L__BB_1:\n\tret;\n}\n"
	if got := unpack(Pack(ptx)); string(got) != want {
		t.Errorf("unpacked as\n%s", got)
	}
	if got := unpack(ptx); !bytes.Equal(got, ptx) {
		t.Errorf("what was not packed came out as\n%s", got)
	}
}

// Everything that was built is packed, and the same when it is packed again.
func TestBuiltIsPacked(t *testing.T) {
	for _, m := range modules() {
		images := slices.Collect(CUDA(m.name, 8, 9))
		ptx := images[0][:len(images[0])-1]
		if !bytes.HasPrefix(ptx, []byte(packed)) {
			t.Errorf("the PTX of %s is not packed: run make kernels", m.name)
			continue
		}
		if again := Pack(unpack(ptx)); !bytes.Equal(again, ptx) {
			t.Errorf("the PTX of %s is different when it is packed again", m.name)
		}
	}
}
