package rotated

import (
	"encoding/binary"
	"unsafe"
)

// mostTogether is how many lines are laid out together at most.
const mostTogether = 4

// together is how many of the first pieces can be laid out together: runs of
// one length, on lines next to each other, that make up one word in every row.
func (f *frame) together(group []piece, size int) int {
	if f.equal == 0 {
		return 1
	}
	n := 1
	for n < min(len(group), mostTogether) {
		p, q := &group[0], &group[n]
		if q.y-p.y != n && p.y-q.y != n || f.shift(p, q, n)*size+f.equal*size > wordBytes {
			break
		}
		n++
	}
	return n
}

// shift is how many columns the runs of line q are right of those of p that are
// n less in number and so in the same row.
func (f *frame) shift(p, q *piece, n int) int {
	return n*f.equal + int(f.right[q.y]-f.right[p.y])
}

// full is the runs of a piece that the box does not cut off and that are as long
// as all others.
func (f *frame) full(p *piece) (run, end int) {
	run, end = p.run, p.last+1
	if int(f.starts[run]) < p.x || run == 0 {
		run++
	}
	if int(f.starts[end]) > p.end || end == f.runs() {
		end--
	}
	return run, end
}

// combine writes the runs [run, end) of the first of several lines and, in the
// same words, those of the others that follow them in their rows. The lines lie
// room bytes apart in src.
func (f *frame) combine(dst []byte, src []byte, room int, group []piece, run, end, size, step int) {
	n := f.equal * size
	mask := ^uint64(0) >> (64 - 8*uint(n))
	start := int(f.starts[run])
	at := group[0].at + run*step + start*size
	count := end - run
	var from [mostTogether]int // in src
	var shift [mostTogether]uint
	for i := range group {
		p := &group[i]
		from[i] = i*room + (start+i*f.equal-p.x)*size
		shift[i] = 8 * uint(f.shift(&group[0], p, i)*size)
		_, _ = src[from[i]:], src[from[i]+(count-1)*n:][:wordBytes]
	}
	_, _ = dst[at:][:wordBytes], dst[at+(count-1)*(n+step):][:wordBytes]
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	load := func(at int) uint64 {
		return binary.LittleEndian.Uint64((*[wordBytes]byte)(unsafe.Add(s, at))[:]) & mask
	}
	store := func(v uint64) { binary.LittleEndian.PutUint64((*[wordBytes]byte)(unsafe.Add(d, at))[:], v) }
	a, b, c, e := from[0], from[1], from[2], from[3]
	sb, sc, se := shift[1]&63, shift[2]&63, shift[3]&63
	switch len(group) {
	case 2:
		for range count {
			store(load(a) | load(b)<<sb)
			a, b, at = a+n, b+n, at+n+step
		}
	case 3:
		for range count {
			store(load(a) | load(b)<<sb | load(c)<<sc)
			a, b, c, at = a+n, b+n, c+n, at+n+step
		}
	case 4:
		for range count {
			store(load(a) | load(b)<<sb | load(c)<<sc | load(e)<<se)
			a, b, c, e, at = a+n, b+n, c+n, e+n, at+n+step
		}
	}
}
