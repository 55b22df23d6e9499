package main

import "github.com/boxsum/boxsum/internal/raster"

func neonTilted(f *armFile) {
	for _, o := range neonOps(raster.Tilted) {
		o.plain = true
		neonTiltedRow(f, o)
	}
}

// neonTiltedRow emits one function, which computes a row, a line of sums at a time, as tiltedRow
// does.
func neonTiltedRow(f *armFile, o op) {
	name := o.name() + "TiltedNEON"
	args := []armArg{{"dst", "*byte"}, {"src", "*byte"}, {"sums", "*byte"}, {"diagonals", "*byte"}, {"edge", "*byte"}, {"n", "int"}, {"channels", "int"}, {"writes", "uint8"}}
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
		// The sums of the row above, one pixel to the left, as many as a pixel has: they are read
		// before the row overwrites them.
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
			k.release(next, d, down)
			made[v] = s
		}
		k.store(dst, made)
		k.release(made...)
		for _, reg := range []string{sums, diagonals, left, right} {
			k.emit("ADD $%d, %s, %s", lineBytes, reg, reg)
		}
		k.emit("SUB $%d, %s, %s", k.lineLen(), n, n)
		k.emit("CBNZ %s, loop", n)
		k.release(over...)
	})
}
