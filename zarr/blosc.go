package zarr

import (
	"bytes"
	"encoding/binary"

	"github.com/boxsum/boxsum/internal/kernel/codecs"
	"github.com/boxsum/boxsum/internal/kernel/processor"
	"github.com/klauspost/compress/zlib"
	"github.com/pierrec/lz4/v4"

	"github.com/boxsum/boxsum/internal/raster"
)

// lz4Pack is numcodecs' LZ4 codec: a size, followed by an LZ4 block.
type lz4Pack struct{}

func (lz4Pack) unpack(buf, data []byte, limit int) ([]byte, error) {
	if len(data) < 4 {
		return nil, bad("a chunk is damaged: %d bytes are too few for lz4", len(data))
	}
	n := int(binary.LittleEndian.Uint32(data))
	if n > limit {
		return nil, bad("a chunk is damaged: it has more than %d bytes", limit)
	}
	buf = raster.Reuse(buf, n)
	return buf, unpackLZ4(buf, data[4:])
}

func (lz4Pack) pack([]byte, []byte) ([]byte, error) {
	return nil, bad("lz4 is supported for reading only")
}
func (lz4Pack) bound(n int) int { return n + n/255 + 64 }
func (lz4Pack) describe() named { return named{Name: "numcodecs.lz4"} }

// unpackLZ4 decodes an LZ4 block, whose decoded size must be exactly len(dst).
func unpackLZ4(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil || n != len(dst) {
		return bad("a chunk is damaged: invalid lz4 data")
	}
	return nil
}

// again copies n bytes from distance bytes before d to d. The ranges may overlap. It
// returns the end of the copy.
func again(dst []byte, d, distance, n int) int {
	end := d + n
	for d < end { // each copy doubles the available length
		d += copy(dst[d:min(end, d+distance)], dst[d-distance:d])
		distance *= 2
	}
	return end
}

// blosclz decodes a BloscLZ block, whose decoded size must be exactly len(dst). The format
// is FastLZ level 2: a control byte is either a number of literals, or the length of a copy
// and the high bits of its distance (c-blosc, blosc/blosclz.c).
func blosclz(dst, src []byte) error {
	damaged := bad("a chunk is damaged: invalid blosclz data")
	if len(src) == 0 {
		return damaged
	}
	const far = 8191 // larger distances have two more bytes
	d, s := 0, 1
	control := int(src[0]) & 31
	for {
		if control >= 32 {
			n := control>>5 - 1
			distance := control & 31 << 8
			if n == 6 {
				for {
					if s >= len(src) || n > len(dst) {
						return damaged
					}
					b := int(src[s])
					s++
					n += b
					if b != 255 {
						break
					}
				}
			}
			if s >= len(src) {
				return damaged
			}
			code := int(src[s])
			s++
			distance += code
			if code == 255 && distance == 31<<8+255 {
				if len(src)-s < 2 {
					return damaged
				}
				distance = int(src[s])<<8 + int(src[s+1]) + far
				s += 2
			}
			n, distance = n+3, distance+1
			if n > len(dst)-d || distance > d {
				return damaged
			}
			d = again(dst, d, distance, n)
		} else {
			n := control + 1
			if n > len(dst)-d || n > len(src)-s {
				return damaged
			}
			copy(dst[d:], src[s:s+n])
			d, s = d+n, s+n
		}
		if s >= len(src) {
			break
		}
		control = int(src[s])
		s++
	}
	if d != len(dst) {
		return damaged
	}
	return nil
}

func (b *bloscPack) unpack(buf, data []byte, limit int) ([]byte, error) {
	n, err := bloscSize(data, limit)
	if err != nil {
		return nil, err
	}
	buf = raster.Reuse(buf, n)
	return buf, b.part(buf, data, 0, n)
}

// bloscHeader is the size of the header of a Blosc chunk.
const bloscHeader = 16

// bloscSize returns the decoded size of a chunk.
func bloscSize(data []byte, limit int) (int, error) {
	if len(data) < bloscHeader {
		return 0, bad("a chunk is damaged: %d bytes are too few for a blosc header", len(data))
	}
	n := int(binary.LittleEndian.Uint32(data[4:]))
	if n > limit {
		return 0, bad("a chunk is damaged: it has more than %d bytes", limit)
	}
	return n, nil
}

// part decodes bytes [from, to) of a chunk into dst. A chunk is a header followed by
// blocks, each divided into streams (the Blosc chunk format,
// github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst). If from is not the start of
// a block, part decodes the whole chunk.
func (b *bloscPack) part(dst, data []byte, from, to int) error {
	const header = bloscHeader
	flags, typeSize := data[2], int(data[3])
	n, block := int(binary.LittleEndian.Uint32(data[4:])), int(binary.LittleEndian.Uint32(data[8:]))
	packed := int(binary.LittleEndian.Uint32(data[12:]))
	switch {
	case data[0] != 2 && data[0] != 1:
		return bad("version %d of the blosc format is not supported", data[0])
	case packed > len(data) || packed < header || block < 1 && n > 0 || block > max(n, 1) || typeSize == 0:
		return bad("a chunk is damaged: invalid blosc header")
	}
	data = data[:packed]
	if flags&2 != 0 { // stored uncompressed
		if packed-header < n {
			return bad("a chunk is damaged: it is cut off")
		}
		copy(dst, data[header+from:header+to])
		return nil
	}
	if n == 0 {
		return nil
	}
	if from%block != 0 || to%block != 0 && to != n {
		all := make([]byte, n)
		if err := b.part(all, data, 0, n); err != nil {
			return err
		}
		copy(dst, all[from:to])
		return nil
	}
	blocks := (n + block - 1) / block
	if blocks > (packed-header)/4 {
		return bad("a chunk is damaged: it is cut off")
	}
	whole := make([]byte, block)
	shuffle, bitShuffle := flags&1 != 0 && typeSize > 1, flags&4 != 0
	for i := from / block; i*block < to; i++ {
		dst := dst[i*block-from : min((i+1)*block, n)-from]
		start := int(int32(binary.LittleEndian.Uint32(data[header+4*i:])))
		if start < header || start > len(data) {
			return bad("a chunk is damaged: a block is missing")
		}
		into := dst
		if shuffle || bitShuffle {
			into = whole[:len(dst)]
		}
		// A block has one stream per byte of an element, unless it is short, the last, or
		// flagged otherwise.
		streams := 1
		if flags&16 == 0 && len(dst) == block && typeSize <= 16 && block/typeSize >= 128 && block%typeSize == 0 {
			streams = typeSize
		}
		src, part := data[start:], len(dst)/streams
		for k := range streams {
			if len(src) < 4 {
				return bad("a chunk is damaged: it is cut off")
			}
			size := int(int32(binary.LittleEndian.Uint32(src)))
			src = src[4:]
			if size < 0 || size > len(src) {
				return bad("a chunk is damaged: it is cut off")
			}
			out := into[k*part : (k+1)*part]
			if err := bloscStream(out, src[:size], flags>>5); err != nil {
				return err
			}
			src = src[size:]
		}
		switch {
		case bitShuffle:
			unshuffleBits(dst, into, typeSize)
		case shuffle:
			codecs.Unshuffle(processor.Best(), dst, into, typeSize)
		}
	}
	return nil
}

// bloscStream decodes one stream of the given compressor.
func bloscStream(dst, src []byte, compressor byte) error {
	if len(src) == len(dst) { // stored uncompressed
		copy(dst, src)
		return nil
	}
	switch compressor {
	case 0:
		return blosclz(dst, src)
	case 1: // LZ4 and LZ4HC
		return unpackLZ4(dst, src)
	case 3:
		r, err := zlib.NewReader(bytes.NewReader(src))
		if err != nil {
			return bad("a chunk is damaged: zlib: %v", err)
		}
		out, err := inflate(dst[:0:len(dst)], r, len(dst))
		if err == nil && len(out) != len(dst) {
			err = bad("a chunk is damaged: it is cut off")
		}
		return err
	case 4:
		out, err := zstdDecoder().DecodeAll(src, dst[:0:len(dst)])
		if err != nil || len(out) != len(dst) {
			return bad("a chunk is damaged: zstd: %v", err)
		}
		if len(dst) > 0 && &out[0] != &dst[0] {
			copy(dst, out)
		}
		return nil
	}
	return bad("blosc compressor %d is not supported, want blosclz, lz4, lz4hc, zlib or zstd", compressor)
}

// unshuffleBits is like [codecs.Unshuffle] for bits: the lowest bits of all elements come
// first, byte by byte. It requires whole groups of eight elements; other blocks are not
// shuffled.
func unshuffleBits(dst, src []byte, size int) {
	n := len(dst) / size
	if n%8 != 0 {
		n = 0
	}
	row := n / 8
	clear(dst[:n*size])
	for k := range size {
		for bit := range 8 {
			part := src[(8*k+bit)*row:][:row]
			for i, b := range part {
				for j := range 8 {
					dst[(8*i+j)*size+k] |= b >> j & 1 << bit
				}
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}
