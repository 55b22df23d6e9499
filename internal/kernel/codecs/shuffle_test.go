package codecs

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum/internal/kernel/processor"
)

// TestShuffle shuffles and unshuffles elements of many sizes at every level, with guards around the
// memory.
func TestShuffle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for level := range processor.Best() + 1 {
		for _, size := range []int{1, 2, 3, 4, 7, 8, 16} {
			for _, n := range []int{0, 1, 7, 31, 32, 33, 63, 64, 100, 1000, 1024} {
				for range 3 {
					src := make([]byte, n*size+random.IntN(size))
					for i := range src {
						src[i] = byte(random.Uint32())
					}
					want := make([]byte, len(src), len(src)+64)
					for i := range n * size {
						want[i%size*n+i/size] = src[i]
					}
					copy(want[n*size:], src[n*size:])
					want = want[:len(src)+64]
					got := make([]byte, len(src)+64)
					Shuffle(level, got[:len(src)], src, size)
					if !bytes.Equal(got, want) {
						t.Fatalf("%v: %d elements of %d bytes", level, n, size)
					}
					back := make([]byte, len(src)+64)
					Unshuffle(level, back[:len(src)], got[:len(src)], size)
					if !bytes.Equal(back[:len(src)], src) || !bytes.Equal(back[len(src):], make([]byte, 64)) {
						t.Fatalf("%v: %d elements of %d bytes do not come back", level, n, size)
					}
				}
			}
		}
	}
}

// BenchmarkShuffle measures every level.
func BenchmarkShuffle(b *testing.B) {
	src := make([]byte, 1<<20)
	dst := make([]byte, len(src))
	for level := range processor.Best() + 1 {
		b.Run(level.String(), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Shuffle(level, dst, src, 8)
			}
		})
	}
}
