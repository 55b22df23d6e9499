package main

import "github.com/boxsum/boxsum/internal/raster"

// neonVolume emits volume kernels for the most common pixel type and, for all others, the kernels
// that add a row to the previous slice.
func neonVolume(f *armFile) {
	for _, o := range neonOps(raster.Volume) {
		for channels := range neonChannels {
			if neonFused(o) {
				neonKernel(f, o, channels+1, true)
			}
		}
	}
	for _, sum := range raster.SumTypes() {
		neonLay(f, sum)
	}
}

// neonFused reports whether a kernel adds the previous slice as it computes a slice.
func neonFused(o op) bool { return o.pix == u8 && o.sum == u32 && !o.square }

func neonLay(f *armFile, sum elem) {
	name := sum.Short() + "LayNEON"
	f.function(name, layDoc(name), []armArg{{"dst", "*byte"}, {"over", "*byte"}, {"n", "int"}}, func(fn *armFunc) {
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
		fn.release(a...)
		fn.release(b...)
	})
}
