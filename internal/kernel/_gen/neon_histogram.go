package main

import "fmt"

// neonHistogram emits the kernels of integral histograms; see binKinds. NEON has no masks, so a
// tail is a whole vector, and there is a kernel for a whole line that does not write to the table.
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
	name, pointer := sum.Short()+kind.name+"NEON", "*byte"
	args := []armArg{{"above", pointer}, {"pitch", "int"}, {"index", "*uint32"}, {"step", "int"}, {"weights", pointer}, {"weightStep", "int"}, {"run", pointer}, {"bins", "*uint32"}, {"n", "int"}}
	lines := binsDoc(name, fmt.Sprint(bytes/sum.Bytes()), "")
	switch {
	case kind.bytes == 0:
		args = append(args, armArg{"some", "*uint32"})
		lines = append(lines, "", "It ignores some.")
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
		// pairs loads or stores vectors, two at a time.
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
		fn.emit("VLD1R (%s), [%s]", regs["index"], bin.arranged("S4"))
		fn.emit("VLD1R (%s), [%s]", regs["weights"], weight.arranged(lanes[sum.Bytes()]))
		load(regs["above"], over)
		for v := range count {
			// The other lanes add zero, which changes no sum: none is ever −0.
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
		fn.release(numbers...)
		fn.release(running...)
		fn.release(over...)
		fn.release(bin, weight, t)
	})
}
