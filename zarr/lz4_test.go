package zarr

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// TestLZ4 compresses and decompresses runs, noise, and near and far matches of any length.
func TestLZ4(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 3000 {
		data := make([]byte, n)
		switch n % 5 {
		case 1:
			for i := range data {
				data[i] = byte(random.Uint32())
			}
		case 2: // steps, like the third byte of sums
			v := uint32(0)
			for i := range data {
				v += uint32(random.IntN(1 << (n % 20)))
				data[i] = byte(v >> 16)
			}
		case 3:
			for i := range data {
				data[i] = byte(i % (1 + n%41))
			}
		case 4:
			for i := range data {
				data[i] = byte(random.IntN(3))
			}
		}
		lz4RoundTrip(t, data)
	}
	far := make([]byte, 1<<18)
	for i := range far {
		far[i] = byte(random.Uint32())
	}
	for _, distance := range []int{1, 7, 8, 1<<16 - 1, 1 << 16, 1<<16 + 5} {
		copy(far[len(far)-1000:], far[len(far)-1000-distance:])
		lz4RoundTrip(t, far)
	}
	b := &bloscPack{Name: "lz4"}
	for n := 65; n < 2000; n++ {
		got := bytes.Repeat([]byte{1}, n)
		if err := unpackLZ4(got, b.appendRun(nil, 7, n)); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{7}, n)) {
			t.Fatalf("a run of %d: %v", n, err)
		}
	}
}

func lz4RoundTrip(t *testing.T, data []byte) {
	t.Helper()
	b := &bloscPack{Name: "lz4"}
	packed, err := b.packStream(nil, data, new(lz4.Compressor))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(packed, data) {
		return // stored uncompressed
	}
	got := make([]byte, len(data))
	if err := unpackLZ4(got, packed); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes are not what they were: %v", len(data), err)
	}
}

// FuzzLZ4 tests that compressed data decompresses to the original, and that decompressing arbitrary bytes writes nothing beyond the destination.
func FuzzLZ4(f *testing.F) {
	f.Add([]byte("abcabcabcabcabcabcabcabcabcabcabcabc"), 30)
	f.Add(binary.LittleEndian.AppendUint64(nil, 1<<40), 9)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		lz4RoundTrip(t, data)
		size = max(0, min(size, 1<<16))
		room := bytes.Repeat([]byte{0xa5}, size+32)
		_ = unpackLZ4(room[:size], data)
		for _, v := range room[size:] {
			if v != 0xa5 {
				t.Fatal("bytes beyond were written")
			}
		}
	})
}
