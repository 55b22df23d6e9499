package main

import (
	"fmt"
	"log"
	"strings"
)

// A word is an instruction that Go's assembler does not support: its bits without the registers,
// and its form in LLVM's syntax. neon_words_test.go compares the two.
type word struct {
	bits uint32
	form string
}

// words holds the instructions that Go's assembler does not support. The destination register is in
// the lowest bits, and the operands start at bits 5 and 16.
var words = map[string]word{
	"fadd.4s":  {0x4e20d400, "fadd %d.4s, %n.4s, %m.4s"},
	"fadd.2d":  {0x4e60d400, "fadd %d.2d, %n.2d, %m.2d"},
	"fsub.4s":  {0x4ea0d400, "fsub %d.4s, %n.4s, %m.4s"},
	"fmul.4s":  {0x6e20dc00, "fmul %d.4s, %n.4s, %m.4s"},
	"fcmgt.4s": {0x6ea0e400, "fcmgt %d.4s, %n.4s, %m.4s"},
	"cmgt.4s":  {0x4ea03400, "cmgt %d.4s, %n.4s, %m.4s"},
	"bic":      {0x4e601c00, "bic %d.16b, %n.16b, %m.16b"},
	"fmul.2d":  {0x6e60dc00, "fmul %d.2d, %n.2d, %m.2d"},
	"fmla.s3":  {0x4fa01800, "fmla %d.4s, %n.4s, %m.s[3]"},
	"fmla.d1":  {0x4fc01800, "fmla %d.2d, %n.2d, %m.d[1]"},
	"fcvtl":    {0x0e617800, "fcvtl %d.2d, %n.2s"},
	"fcvtl2":   {0x4e617800, "fcvtl2 %d.2d, %n.4s"},
	"fcvtzs":   {0x4ee1b800, "fcvtzs %d.2d, %n.2d"},
	"scvtf.4s": {0x4e21d800, "scvtf %d.4s, %n.4s"},
	"scvtf.2d": {0x4e61d800, "scvtf %d.2d, %n.2d"},
	"ucvtf.4s": {0x6e21d800, "ucvtf %d.4s, %n.4s"},
	"ucvtf.2d": {0x6e61d800, "ucvtf %d.2d, %n.2d"},
	"sxtl.2":   {0x0f10a400, "sxtl %d.4s, %n.4h"},
	"sxtl2.2":  {0x4f10a400, "sxtl2 %d.4s, %n.8h"},
	"sxtl.4":   {0x0f20a400, "sxtl %d.2d, %n.2s"},
	"sxtl2.4":  {0x4f20a400, "sxtl2 %d.2d, %n.4s"},
	"uaddl.1":  {0x2e200000, "uaddl %d.8h, %n.8b, %m.8b"},
	"uaddl2.1": {0x6e200000, "uaddl2 %d.8h, %n.16b, %m.16b"},
	"uaddl.2":  {0x2e600000, "uaddl %d.4s, %n.4h, %m.4h"},
	"uaddl2.2": {0x6e600000, "uaddl2 %d.4s, %n.8h, %m.8h"},
	"uaddl.4":  {0x2ea00000, "uaddl %d.2d, %n.2s, %m.2s"},
	"uaddl2.4": {0x6ea00000, "uaddl2 %d.2d, %n.4s, %m.4s"},
	"saddl.2":  {0x0e600000, "saddl %d.4s, %n.4h, %m.4h"},
	"saddl2.2": {0x4e600000, "saddl2 %d.4s, %n.8h, %m.8h"},
	"saddl.4":  {0x0ea00000, "saddl %d.2d, %n.2s, %m.2s"},
	"saddl2.4": {0x4ea00000, "saddl2 %d.2d, %n.4s, %m.4s"},
	"saddw.4":  {0x0ea01000, "saddw %d.2d, %n.2d, %m.2s"},
	"saddw2.4": {0x4ea01000, "saddw2 %d.2d, %n.2d, %m.4s"},
	"umull.1":  {0x2e20c000, "umull %d.8h, %n.8b, %m.8b"},
	"umull.2":  {0x2e60c000, "umull %d.4s, %n.4h, %m.4h"},
	"umull2.2": {0x6e60c000, "umull2 %d.4s, %n.8h, %m.8h"},
	"umull.4":  {0x2ea0c000, "umull %d.2d, %n.2s, %m.2s"},
	"umull2.4": {0x6ea0c000, "umull2 %d.2d, %n.4s, %m.4s"},
	"smull.2":  {0x0e60c000, "smull %d.4s, %n.4h, %m.4h"},
	"smull2.2": {0x4e60c000, "smull2 %d.4s, %n.8h, %m.8h"},
	"smull.4":  {0x0ea0c000, "smull %d.2d, %n.2s, %m.2s"},
	"smull2.4": {0x4ea0c000, "smull2 %d.2d, %n.4s, %m.4s"},
}

// encode returns the instruction with its registers, as bits and in LLVM's syntax.
func (w word) encode(d, n, m vreg) (bits uint32, text string) {
	name := func(v vreg) string { return fmt.Sprintf("v%d", v) }
	text = strings.NewReplacer("%d", name(d), "%n", name(n), "%m", name(m)).Replace(w.form)
	bits = w.bits | uint32(d) | uint32(n)<<5
	if strings.Contains(w.form, "%m") {
		bits |= uint32(m) << 16
	}
	return bits, text
}

// word emits an instruction that Go's assembler does not support, as bits.
func (f *armFunc) word(name string, d, n vreg, m ...vreg) {
	w, ok := words[name]
	if !ok || strings.Contains(w.form, "%m") != (len(m) == 1) {
		log.Fatalf("no instruction %q with %d operands", name, 1+len(m))
	}
	bits, text := w.encode(d, n, append(m, 0)[0])
	f.emit("WORD $0x%08x // %s", bits, text)
}
