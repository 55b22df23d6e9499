package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestWords checks that every instruction encoded here has the bits that LLVM assigns it, for all
// registers.
func TestWords(t *testing.T) {
	assembler := cmp.Or(os.Getenv("LLVM_MC"), "llvm-mc")
	if _, err := exec.LookPath(assembler); err != nil {
		const missing = "llvm-mc is not installed: install Debian's llvm, or let LLVM_MC name it"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	var want []string
	var source bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(words)) {
		for _, regs := range [][3]vreg{{0, 0, 0}, {31, 0, 0}, {0, 31, 0}, {0, 0, 31}, {21, 10, 5}} {
			bits, text := words[name].encode(regs[0], regs[1], regs[2])
			fmt.Fprintln(&source, text)
			want = append(want, fmt.Sprintf("[0x%02x,0x%02x,0x%02x,0x%02x]", bits&0xff, bits>>8&0xff, bits>>16&0xff, bits>>24))
		}
	}
	cmd := exec.Command(assembler, "-arch=aarch64", "-mattr=+neon", "-show-encoding")
	cmd.Stdin, cmd.Stderr = &source, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for line := range strings.Lines(string(out)) {
		text, encoding, ok := strings.Cut(strings.TrimSpace(line), "// encoding: ")
		if !ok {
			continue
		}
		if got == len(want) {
			t.Fatal("LLVM has more instructions")
		}
		if encoding != want[got] {
			t.Errorf("%s is %s, want %s", strings.TrimSpace(text), encoding, want[got])
		}
		got++
	}
	if got != len(want) {
		t.Errorf("LLVM has %d of %d instructions", got, len(want))
	}
}
