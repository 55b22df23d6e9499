package zarr

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/boxsum/boxsum/internal/kernel/codecs"
	"github.com/boxsum/boxsum/internal/kernel/processor"

	"github.com/boxsum/boxsum/internal/raster"
	"github.com/pierrec/lz4/v4"
)

// bloscPack decodes what c-blosc writes. It encodes elements with shuffled bytes, one
// stream for each byte of an element: noise, such as the low bytes of sums, is stored
// uncompressed, and other streams use zstd or LZ4. This is smaller than zstd alone, and
// faster in proportion to the amount of noise.
type bloscPack struct {
	Name      string `json:"cname"`
	Level     int    `json:"clevel"`
	Shuffle   any    `json:"shuffle"` // a name, or a number in version 2
	TypeSize  int    `json:"typesize"`
	BlockSize int    `json:"blocksize"`
}

// lz4End is the minimum number of literals at the end of an LZ4 block.
const lz4End = 5

// bloscBlock is the size of the blocks that pack writes. For elements of
// 8 bytes, each of its 8 streams has 128 KiB, the largest block of zstd.
const bloscBlock = 1 << 20

func (b *bloscPack) bound(n int) int { return n + n>>5 + 4096 }
func (b *bloscPack) describe() named { return named{Name: "blosc", Configuration: mustJSON(b)} }

// bloscMemory holds a shuffled block and its compressed sample.
type bloscMemory struct {
	block  [bloscBlock]byte
	sample [noiseSample + noiseSample/8]byte
	lz4    lz4.Compressor
}

var bloscMemories = sync.Pool{New: func() any { return new(bloscMemory) }}

func (b *bloscPack) pack(buf, data []byte) ([]byte, error) {
	size := b.TypeSize
	format := byte(4 << 5)
	if b.Name == "lz4" {
		format = 1 << 5
	}
	if b.Name != "zstd" && b.Name != "lz4" || b.Shuffle != "shuffle" || size < 1 || size > 16 || bloscBlock%size != 0 {
		return nil, bad("blosc with compressor %s, shuffle %s and element size %d cannot be written, want zstd or lz4, shuffle, and 1, 2, 4, 8 or 16 bytes", b.Name, b.Shuffle, size)
	}
	const header = 16
	block := max(min(bloscBlock, len(data)/size*size), 1)
	if block/size < 128 { // too short for streams: stored uncompressed
		out := append(buf[:0], 2, 1, 2|format, byte(size))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
		out = binary.LittleEndian.AppendUint32(out, uint32(max(len(data), 1)))
		out = binary.LittleEndian.AppendUint32(out, uint32(header+len(data)))
		return append(out, data...), nil
	}
	blocks := raster.CeilDiv(len(data), block)
	out := raster.Reuse(buf[:0], b.bound(len(data)))[:header+4*blocks]
	copy(out, []byte{2, 1, 1 | format, byte(size)}) // version, shuffled
	binary.LittleEndian.PutUint32(out[4:], uint32(len(data)))
	binary.LittleEndian.PutUint32(out[8:], uint32(block))
	memory := bloscMemories.Get().(*bloscMemory)
	defer bloscMemories.Put(memory)
	for i := range blocks {
		binary.LittleEndian.PutUint32(out[header+4*i:], uint32(len(out)))
		part := data[i*block : min((i+1)*block, len(data))]
		shuffled := memory.block[:len(part)]
		codecs.Shuffle(processor.Best(), shuffled, part, size)
		streams := size
		if len(part) < block {
			streams = 1
		}
		n := len(part) / streams
		for k := range streams {
			stream, at := shuffled[k*n:(k+1)*n], len(out)
			out = append(out, 0, 0, 0, 0)
			if n > 64 && bytes.Equal(stream[1:], stream[:n-1]) { // all equal, like high bytes
				out = b.appendRun(out, stream[0], n)
				binary.LittleEndian.PutUint32(out[at:], uint32(len(out)-at-4))
				continue
			}
			if !memory.isNoise(b, stream) {
				packed, err := b.packStream(out[len(out):], stream, &memory.lz4)
				if err != nil {
					return nil, err
				}
				if len(packed) < n {
					out = append(out, packed...) // in place if there was room
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

// packStream compresses one stream.
func (b *bloscPack) packStream(buf, data []byte, c *lz4.Compressor) ([]byte, error) {
	if b.Name == "lz4" {
		out := raster.Reuse(buf[:0], lz4.CompressBlockBound(len(data)))
		n, err := c.CompressBlock(data, out)
		if n == 0 {
			return data, err // incompressible
		}
		return out[:n], err
	}
	return (&zstdPack{level: b.Level}).pack(buf, data)
}

// appendRun appends n equal bytes: in LZ4, as a copy of the first byte; in zstd, as a frame (RFC 8878, 3.1.1) whose header has the size in four bytes, with blocks of up to 128 KiB.
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

// isNoise reports whether a sample of bytes is incompressible.
func (m *bloscMemory) isNoise(b *bloscPack, data []byte) bool {
	if len(data) < 2*noiseSample {
		return false
	}
	packed, err := b.packStream(m.sample[:0], data[len(data)/2:][:noiseSample], &m.lz4)
	return err == nil && len(packed) > noiseSample-noiseSample/16
}
