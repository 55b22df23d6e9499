package rotated

import (
	"encoding/binary"
	"unsafe"
)

// A word is up to eight bytes of a run: where it lies in a line of the image and
// where in the cells, if line and cells began at 0, and a mask of its bytes.
type word struct {
	mask     uint64
	src, dst int
}

const (
	wordBytes = 8
	// shortRun is how long runs may be, in bytes, to be moved in words; longer
	// ones are copied one by one.
	shortRun = 4 * wordBytes
)

// words lists the words of all runs for pixels of size bytes, runs going step
// bytes further each, and for every run and the end which word is the next.
func (f *frame) words(size, step int) (list []word, next []int32) {
	next = make([]int32, 0, f.runs()+1)
	for run, start := range f.starts[:f.runs()] {
		next = append(next, int32(len(list)))
		at, end := int(start)*size, int(f.starts[run+1])*size
		for ; at < end; at += wordBytes {
			n := uint(min(wordBytes, end-at))
			list = append(list, word{^uint64(0) >> (64 - 8*n), at, at + run*step})
		}
	}
	return list, append(next, int32(len(list)))
}

// move writes words from src to dst, and zeros up to eight bytes after those
// that have fewer:
//
//	for _, w := range words {
//		copy(dst[dstStart+w.dst:], mask(src[srcStart+w.src:][:8]))
//	}
func move(dst []byte, dstStart int, src []byte, srcStart int, words []word) {
	if len(words) == 0 {
		return
	}
	// What is in the slices for the first and the last word is so for all: runs
	// move one way, and the words of one are within shortRun.
	first, last := words[0], words[len(words)-1]
	_ = dst[dstStart+min(first.dst, last.dst-shortRun):][:shortRun]
	_ = dst[dstStart+max(first.dst, last.dst):][:2*shortRun]
	_, _ = src[srcStart+first.src:][:wordBytes], src[srcStart+last.src:][:wordBytes]
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	for i := range words {
		w := &words[i]
		v := binary.LittleEndian.Uint64((*[wordBytes]byte)(unsafe.Add(s, srcStart+w.src))[:])
		binary.LittleEndian.PutUint64((*[wordBytes]byte)(unsafe.Add(d, dstStart+w.dst))[:], v&w.mask)
	}
}
