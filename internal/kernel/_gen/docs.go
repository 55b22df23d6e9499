package main

import (
	"fmt"
	"slices"
)

// As in gonum, the doc comment of a kernel is the Go loop that it replaces.

// doc returns the doc comment of a plane kernel.
func doc(name string, o op) []string {
	value := fmt.Sprintf("%s(src[r*srcStride+i])", o.sum.String())
	switch {
	case o.square:
		value += " squared"
	case o.sum == f32:
		value += " - offset"
	}
	lines := []string{
		name + " computes, in the summation order of the portable loop,",
		"",
		"\tfor r := range rows {",
		"\t\tfor i := range n {",
		"\t\t\tsum[r][i%channels] += " + value,
		"\t\t\tabove[i] += sum[r][i%channels]",
		"\t\t\tdst[r*dstStride+i] = above[i]",
		"\t\t}",
		"\t}",
		"",
	}
	if o.dot {
		return append(lines, "for a single channel, with strides in bytes.")
	}
	return append(lines, "with the channels that lanes describes, and strides in bytes.")
}

func volumeDoc(name string, o op) []string {
	lines := doc(name, o)
	store := slices.Index(lines, "\t\t\tdst[r*dstStride+i] = above[i]")
	return slices.Replace(lines, store, store+1, "\t\t\tover[r][i] += above[i]", "\t\t\tdst[r*dstStride+i] = over[r][i]")
}

func layDoc(name string) []string {
	return []string{name + " computes, for whole cache lines of sums,", "", "\tfor i := range n {", "\t\tover[i] += dst[i]", "\t\tdst[i] = over[i]", "\t}"}
}

// binsDoc returns the doc comment of a histogram kernel for count bins. also is an additional
// statement, or empty.
func binsDoc(name, count, also string) []string {
	lines := []string{
		name + " computes, for bins numbered from *bins on, with distances in bytes,",
		"",
		"\tfor x := range n {",
		"\t\trun[index[x*step]] += weights[x*weightStep]",
		"\t\tfor b := range " + count + " {",
		"\t\t\tabove[x*pitch+b] += run[b]",
	}
	if also != "" {
		lines = append(lines, "\t\t\t"+also)
	}
	return append(lines, "\t\t}", "\t}")
}

func tiltedDoc(name string, o op) []string {
	value := fmt.Sprintf("%s(src[i])", o.sum.String())
	if o.square {
		value += " squared"
	}
	return []string{
		name + " is",
		"",
		"\tfor i := range n {",
		"\t\td := diagonals[i]",
		"\t\tdiagonals[i] = diagonals[i+channels] + " + value,
		"\t\tnew[i] = d + (diagonals[i] + sums[i-channels]) // edge before the first",
		"\t\tdst[i] = new[i]",
		"\t}",
		"\tcopy(sums, new)",
		"",
		"for whole cache lines of sums.",
	}
}

func tiltedGroupDoc(name string, o op) []string {
	return []string{
		name + " computes, with the kernel of one row,",
		"",
		"	for r := range 4 {",
		"		" + o.name() + "Tilted(dst, src, sums, diagonals, edge, n, channels, writes)",
		"	}",
		"",
		"where all pointers advance from row to row by their strides, edge by 16 elements, and move a vector to the left.",
		"At the edges of the image, vectors under masks precede and follow the n elements.",
	}
}
