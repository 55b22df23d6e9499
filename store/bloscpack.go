package store

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/boxsum/boxsum/internal/kernel"
)

// bloscPack reads what c-blosc writes. What it writes itself are elements whose bytes are shuffled, each byte of them
// in a stream of its own: as it is where it is noise, as the low bytes of sums are, and else by zstd or LZ4. That is faster
// than zstd alone by as much as there is noise, and smaller.
type bloscPack struct {
	Name      string `json:"cname"`
	Level     int    `json:"clevel"`
	Shuffle   any    `json:"shuffle"` // a name, or a number in version 2
	TypeSize  int    `json:"typesize"`
	BlockSize int    `json:"blocksize"`
}

// bloscBlock is the size of the blocks that we write: a stream of one of 8 bytes is what zstd takes at once.
const bloscBlock = 1 << 20

func (b *bloscPack) bound(n int) int { return n + n>>5 + 4096 }
func (b *bloscPack) describe() named { return named{Name: "blosc", Configuration: mustJSON(b)} }

// bloscMemory is a block, taken apart, and what a sample of it becomes.
type bloscMemory struct {
	block  [bloscBlock]byte
	sample [noiseSample + noiseSample/8]byte
	seen   lz4Table
}

var bloscMemories = sync.Pool{New: func() any { return new(bloscMemory) }}

func (b *bloscPack) pack(buf, data []byte) ([]byte, error) {
	size := b.TypeSize
	format := byte(4 << 5)
	if b.Name == "lz4" {
		format = 1 << 5
	}
	if b.Name != "zstd" && b.Name != "lz4" || b.Shuffle != "shuffle" || size < 1 || size > 16 || bloscBlock%size != 0 {
		return nil, bad("blosc is written with zstd or lz4, and shuffled elements of 1, 2, 4, 8 or 16 bytes")
	}
	const header = 16
	block := max(min(bloscBlock, len(data)/size*size), 1)
	if block/size < 128 { // too short for streams: it is stored
		out := append(buf[:0], 2, 1, 2|format, byte(size))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
		out = binary.LittleEndian.AppendUint32(out, uint32(max(len(data), 1)))
		out = binary.LittleEndian.AppendUint32(out, uint32(header+len(data)))
		return append(out, data...), nil
	}
	blocks := ceil(len(data), block)
	out := room(buf[:0], b.bound(len(data)))[:header+4*blocks]
	copy(out, []byte{2, 1, 1 | format, byte(size)}) // version, shuffled
	binary.LittleEndian.PutUint32(out[4:], uint32(len(data)))
	binary.LittleEndian.PutUint32(out[8:], uint32(block))
	memory := bloscMemories.Get().(*bloscMemory)
	defer bloscMemories.Put(memory)
	for i := range blocks {
		binary.LittleEndian.PutUint32(out[header+4*i:], uint32(len(out)))
		part := data[i*block : min((i+1)*block, len(data))]
		shuffled := memory.block[:len(part)]
		kernel.Shuffle(kernel.Best(), shuffled, part, size)
		streams := size
		if len(part) < block {
			streams = 1
		}
		n := len(part) / streams
		for k := range streams {
			stream, at := shuffled[k*n:(k+1)*n], len(out)
			out = append(out, 0, 0, 0, 0)
			if n > 64 && bytes.Equal(stream[1:], stream[:n-1]) { // all the same, as high bytes are
				out = b.appendRun(out, stream[0], n)
				binary.LittleEndian.PutUint32(out[at:], uint32(len(out)-at-4))
				continue
			}
			if !memory.isNoise(b, stream) {
				packed, err := b.packStream(out[len(out):], stream, &memory.seen)
				if err != nil {
					return nil, err
				}
				if len(packed) < n {
					out = append(out, packed...) // onto itself where there was room
					binary.LittleEndian.PutUint32(out[at:], uint32(len(packed)))
					continue
				}
			}
			binary.LittleEndian.PutUint32(out[at:], uint32(n))
			out = append(out, stream...)
		}
	}
	binary.LittleEndian.PutUint32(out[12:], uint32(len(out)))
	return out, nil
}

// packStream packs the bytes of a stream.
func (b *bloscPack) packStream(buf, data []byte, seen *lz4Table) ([]byte, error) {
	if b.Name == "lz4" {
		return appendLZ4(buf[:0], data, seen), nil
	}
	return (&zstdPack{level: b.Level}).pack(buf, data)
}

// appendRun appends n times the same byte, as LZ4 that copies its first byte, or as a frame of zstd (RFC 8878, 3.1.1): a header with its size in four bytes, and blocks of up to 128 KiB.
func (b *bloscPack) appendRun(out []byte, value byte, n int) []byte {
	if b.Name == "lz4" {
		rest := n - 1 - 4 - 15 - lz4End
		out = append(out, 1<<4|15, value, 1, 0)
		for ; rest >= 255; rest -= 255 {
			out = append(out, 255)
		}
		return append(out, byte(rest), lz4End<<4, value, value, value, value, value)
	}
	out = append(out, 0x28, 0xb5, 0x2f, 0xfd, 0xa0)
	out = binary.LittleEndian.AppendUint32(out, uint32(n))
	for n > 0 {
		part, last := min(n, 1<<17), uint32(0)
		if n -= part; n == 0 {
			last = 1
		}
		head := last | 1<<1 | uint32(part)<<3
		out = append(out, byte(head), byte(head>>8), byte(head>>16), value)
	}
	return out
}

const noiseSample = 4096

// isNoise reports whether packing does nothing for a sample of bytes.
func (m *bloscMemory) isNoise(b *bloscPack, data []byte) bool {
	if len(data) < 2*noiseSample {
		return false
	}
	packed, err := b.packStream(m.sample[:0], data[len(data)/2:][:noiseSample], &m.seen)
	return err == nil && len(packed) > noiseSample-noiseSample/16
}
