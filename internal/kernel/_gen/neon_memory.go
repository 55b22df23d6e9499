package main

import "fmt"

// neonMemory emits the loops that measure memory: a fill, a read, and both at once. They have no
// non-temporal stores, because arm64 processors detect by themselves that whole lines are written.
// For copies the runtime's memmove is as fast as any.
func neonMemory(f *armFile) {
	bytes := func(names ...string) (all []armArg) {
		for _, name := range names {
			all = append(all, armArg{name, "*byte"})
		}
		return all
	}
	read := func(fn *armFunc, reg string) {
		for at := 0; at < lineBytes; at += 32 {
			fn.emit("FLDPQ %d(%s), (F0, F1)", at, reg)
		}
		fn.emit("ADD $%d, %s, %s", lineBytes, reg, reg)
	}
	fill := func(fn *armFunc, reg string) {
		for at := 0; at < lineBytes; at += 32 {
			fn.emit("FSTPQ (F2, F3), %d(%s)", at, reg)
		}
		fn.emit("ADD $%d, %s, %s", lineBytes, reg, reg)
	}
	ones := func(fn *armFunc) {
		fn.emit("VMOVI $255, V2.B16")
		fn.emit("VMOVI $255, V3.B16")
	}
	through := func(name, verb, reg string, start func(*armFunc), step func(*armFunc, string)) {
		doc := fmt.Sprintf("%s %s n bytes, a multiple of 256.", name, verb)
		f.function(name, []string{doc}, append(bytes(reg), armArg{"n", "int"}), func(fn *armFunc) {
			fn.arg(reg, "R0")
			fn.arg("n", "R1")
			start(fn)
			fn.label("loop")
			for range 256 / lineBytes {
				step(fn, "R0")
			}
			fn.emit("SUB $256, R1, R1")
			fn.emit("CBNZ R1, loop")
		})
	}
	through("fillNEON", "writes", "dst", ones, fill)
	through("readNEON", "reads", "src", func(*armFunc) {}, read)

	f.function("fillReadNEON", []string{"fillReadNEON reads blocks of 64 bytes and, for each, writes ratio blocks."},
		append(bytes("dst", "src"), armArg{"blocks", "int"}, armArg{"ratio", "int"}), func(fn *armFunc) {
			fn.arg("dst", "R0")
			fn.arg("src", "R1")
			fn.arg("blocks", "R2")
			fn.arg("ratio", "R3")
			ones(fn)
			fn.label("loop")
			read(fn, "R1")
			fn.emit("MOVD R3, R4")
			fn.label("write")
			fill(fn, "R0")
			fn.emit("SUB $1, R4, R4")
			fn.emit("CBNZ R4, write")
			fn.emit("SUB $1, R2, R2")
			fn.emit("CBNZ R2, loop")
		})
}
