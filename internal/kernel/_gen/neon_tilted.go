package main

import (
	"fmt"

	"github.com/boxsum/boxsum/internal/pairs"
)

func neonTilted(f *armFile) {
	for _, o := range neonOps(pairs.Tilted) {
		o.plain = true
		neonTiltedRow(f, o)
	}
}

// neonTiltedRow emits one function: a row, a line of sums at a time, as tiltedRow does.
func neonTiltedRow(f *armFile, o op) {
	name := o.name() + "TiltedNEON"
	sum := "*" + o.sum.String()
	args := []armArg{{"dst", sum}, {"src", "*" + o.pix.String()}, {"sums", sum}, {"diagonals", sum}, {"edge", sum}, {"n", "int"}, {"channels", "int"}, {"writes", "uint8"}}
	f.function(name, tiltedDoc(name, o), args, func(fn *armFunc) {
		k := &neonLine{armFunc: fn, op: o}
		const dst, sums, diagonals, left, right, n, pixel = "R0", "R2", "R3", "R4", "R5", "R10", "R11"
		k.arg("dst", dst)
		k.arg("src", regSrcRows[0])
		k.arg("sums", sums)
		k.arg("diagonals", diagonals)
		k.arg("edge", left)
		k.arg("n", n)
		k.arg("channels", pixel)
		// The sums of the row above, one pixel to the left, as many as a pixel takes:
		// they are read before the row goes over them.
		over := k.takes(neonChannels * o.sum.Bytes() / 16)
		for v, reg := range over {
			k.emit("FMOVQ %d(%s), F%d", 16*v, left, reg)
		}
		k.emit("LSL $%d, %s, %s", log2(o.sum.Bytes()), pixel, pixel)
		k.emit("SUB %s, %s, %s", pixel, sums, left)
		k.emit("ADD %s, %s, %s", pixel, diagonals, right)

		k.label("loop")
		made := k.values(0)
		for v, down := range made {
			next, d, s, over, ahead := k.take(), k.take(), k.take(), over[v%len(over)], v+len(over)
			k.emit("FMOVQ %d(%s), F%d", 16*v, right, next)
			k.emit("FMOVQ %d(%s), F%d", 16*v, diagonals, d)
			k.addVectors(o.sum, down, next, down)
			k.addVectors(o.sum, s, down, over)
			k.emit("FMOVQ %d(%s), F%d", 16*ahead, left, over)
			k.addVectors(o.sum, s, d, s)
			k.emit("FMOVQ F%d, %d(%s)", down, 16*v, diagonals)
			k.emit("FMOVQ F%d, %d(%s)", s, 16*v, sums)
			k.give(next, d, down)
			made[v] = s
		}
		k.store(dst, made)
		k.give(made...)
		for _, reg := range []string{sums, diagonals, left, right} {
			k.emit("ADD $%d, %s, %s", lineBytes, reg, reg)
		}
		k.emit("SUB $%d, %s, %s", k.lineLen(), n, n)
		k.emit("CBNZ %s, loop", n)
		k.give(over...)
	})
}

// neonVolume emits the kernels of volumes of the most usual pixels, and what lays rows of
// all others on the slice over them.
func neonVolume(f *armFile) {
	for _, o := range neonOps(pairs.Volume) {
		for channels := range neonChannels {
			if neonFused(o) {
				neonKernel(f, o, channels+1, true)
			}
		}
	}
	for _, sum := range pairs.Accumulators() {
		neonLay(f, sum)
	}
}

// neonFused reports whether a slice is laid on the one over it as it is made.
func neonFused(o op) bool { return o.pix == u8 && o.sum == u32 && !o.square }

func neonLay(f *armFile, sum elem) {
	name := sum.Short() + "LayNEON"
	pointer := "*" + sum.String()
	f.function(name, layDoc(name), []armArg{{"dst", pointer}, {"over", pointer}, {"n", "int"}}, func(fn *armFunc) {
		const dst, over, n = "R0", "R1", "R2"
		fn.arg("dst", dst)
		fn.arg("over", over)
		fn.arg("n", n)
		a, b := fn.takes(vectors), fn.takes(vectors)
		fn.label("loop")
		for v := 0; v < vectors; v += 2 {
			fn.emit("FLDPQ %d(%s), (F%d, F%d)", 16*v, dst, a[v], a[v+1])
			fn.emit("FLDPQ %d(%s), (F%d, F%d)", 16*v, over, b[v], b[v+1])
		}
		for v := range a {
			fn.addVectors(sum, a[v], b[v], a[v])
		}
		fn.store(over, a)
		fn.store(dst, a)
		fn.emit("SUB $%d, %s, %s", lineBytes/sum.Bytes(), n, n)
		fn.emit("CBNZ %s, loop", n)
		fn.give(a...)
		fn.give(b...)
	})
}

// neonHistogram emits the kernels of integral histograms, see binKinds. Without masks, a
// tail is a whole vector; and there is one of a line that is not written to the table.
func neonHistogram(f *armFile) {
	for _, sum := range binSums() {
		for _, kind := range neonBinKinds {
			neonBins(f, sum, kind)
		}
	}
}

var neonBinKinds = append([]binKind{{"half", "BinsHalf", lineBytes, false}}, binKinds...)

func neonBins(f *armFile, sum elem, kind binKind) {
	bytes := max(16, kind.bytes)
	name, pointer := sum.Short()+kind.name+"NEON", "*"+sum.String()
	args := []armArg{{"above", pointer}, {"pitch", "int"}, {"index", "*uint32"}, {"step", "int"}, {"weights", pointer}, {"weightStep", "int"}, {"run", pointer}, {"bins", "*uint32"}, {"n", "int"}}
	lines := binsDoc(name, fmt.Sprint(bytes/sum.Bytes()), "")
	switch {
	case kind.bytes == 0:
		args = append(args, armArg{"some", "*uint32"})
		lines = append(lines, "", "whatever some says.")
	case kind.stream:
		args = append(args, armArg{"dst", pointer})
		lines = binsDoc(name, fmt.Sprint(bytes/sum.Bytes()), "dst[x*pitch+b] = above[x*pitch+b]")
	}
	f.function(name, lines, args, func(fn *armFunc) {
		regs := map[string]string{}
		for i, a := range args {
			if a.name != "some" {
				regs[a.name] = fmt.Sprintf("R%d", i)
				fn.arg(a.name, regs[a.name])
			}
		}
		count := bytes / 16
		numbers, running, over := fn.takes(count), fn.takes(count), fn.takes(count)
		// pairs moves vectors two at a time.
		pairs := func(two, one, reg string, v []vreg, text func(regs, mem string) string) {
			for i := 0; i < len(v); i += 2 {
				mem := fmt.Sprintf("%d(%s)", 16*i, reg)
				if len(v) == 1 {
					fn.emit("%s %s", one, text(fmt.Sprintf("F%d", v[i]), mem))
				} else {
					fn.emit("%s %s", two, text(fmt.Sprintf("(F%d, F%d)", v[i], v[i+1]), mem))
				}
			}
		}
		load := func(reg string, v []vreg) {
			pairs("FLDPQ", "FMOVQ", reg, v, func(regs, mem string) string { return mem + ", " + regs })
		}
		store := func(reg string, v []vreg) {
			pairs("FSTPQ", "FMOVQ", reg, v, func(regs, mem string) string { return regs + ", " + mem })
		}
		load(regs["bins"], numbers)
		load(regs["run"], running)

		fn.label("loop")
		bin, weight, t := fn.take(), fn.take(), fn.take()
		fn.emit("VLD1R (%s), [%s]", regs["index"], bin.as("S4"))
		fn.emit("VLD1R (%s), [%s]", regs["weights"], weight.as(lanes[sum.Bytes()]))
		load(regs["above"], over)
		for v := range count {
			// Zero is added to the other lanes, which no sum can tell: none is ever −0.
			fn.three("VCMEQ", "S4", t, bin, numbers[v])
			fn.three("VAND", "B16", t, t, weight)
			fn.addVectors(sum, running[v], running[v], t)
			fn.addVectors(sum, over[v], over[v], running[v])
		}
		store(regs["above"], over)
		if kind.stream {
			store(regs["dst"], over)
			fn.emit("ADD %s, %s, %s", regs["pitch"], regs["dst"], regs["dst"])
		}
		fn.emit("ADD %s, %s, %s", regs["step"], regs["index"], regs["index"])
		fn.emit("ADD %s, %s, %s", regs["weightStep"], regs["weights"], regs["weights"])
		fn.emit("ADD %s, %s, %s", regs["pitch"], regs["above"], regs["above"])
		fn.emit("SUB $1, %s, %s", regs["n"], regs["n"])
		fn.emit("CBNZ %s, loop", regs["n"])
		store(regs["run"], running)
		fn.give(numbers...)
		fn.give(running...)
		fn.give(over...)
		fn.give(bin, weight, t)
	})
}
