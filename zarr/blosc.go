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
		return nil, bad("damaged chunk: %d bytes are too few for lz4", len(data))
	}
	n := int(binary.LittleEndian.Uint32(data))
	if n > limit {
		return nil, bad("damaged chunk: it decompresses to %d bytes, want at most %d", n, limit)
	}
	buf = raster.Reuse(buf, n)
	return buf, unpackLZ4(buf, data[4:])
}

func (lz4Pack) pack([]byte, []byte) ([]byte, error) {
	return nil, bad("chunks cannot be written with numcodecs.lz4 (use blosc with lz4)")
}
func (lz4Pack) bound(n int) int { return n + n/255 + 64 }
func (lz4Pack) describe() named { return named{Name: "numcodecs.lz4"} }

// unpackLZ4 decodes an LZ4 block, whose decoded size must be exactly len(dst).
func unpackLZ4(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return bad("damaged chunk: lz4: %v", err)
	}
	if n != len(dst) {
		return bad("damaged chunk: lz4 data decompresses to %d bytes, want %d", n, len(dst))
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
	damaged := bad("damaged chunk: invalid blosclz data")
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

var errCutOff = bad("damaged chunk: truncated data")

// bloscSize returns the decoded size of a chunk.
func bloscSize(data []byte, limit int) (int, error) {
	if len(data) < bloscHeader {
		return 0, bad("damaged chunk: %d bytes are too few for a blosc header", len(data))
	}
	n := int(binary.LittleEndian.Uint32(data[4:]))
	if n > limit {
		return 0, bad("damaged chunk: it decompresses to %d bytes, want at most %d", n, limit)
	}
	return n, nil
}

// A bloscChunk is a chunk with the fields of its header (the Blosc chunk format,
// github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst).
type bloscChunk struct {
	data     []byte // with the header
	flags    byte
	typeSize int // bytes of an element
	size     int // bytes when decoded
	block    int // bytes of a block when decoded
}

// The flags of a chunk. The three highest bits number the compressor.
const (
	bloscShuffled    = 1 << 0
	bloscStored      = 1 << 1 // not compressed
	bloscBitShuffled = 1 << 2
	bloscOneStream   = 1 << 4 // per block
)

func parseBlosc(data []byte) (*bloscChunk, error) {
	c := &bloscChunk{
		flags: data[2], typeSize: int(data[3]),
		size: int(binary.LittleEndian.Uint32(data[4:])), block: int(binary.LittleEndian.Uint32(data[8:])),
	}
	packed := int(binary.LittleEndian.Uint32(data[12:]))
	switch {
	case data[0] != 2 && data[0] != 1:
		return nil, bad("version of the blosc format is %d, want 1 or 2", data[0])
	case packed > len(data) || packed < bloscHeader || c.block < 1 && c.size > 0 || c.block > max(c.size, 1) || c.typeSize == 0:
		return nil, bad("damaged chunk: invalid blosc header")
	}
	c.data = data[:packed]
	return c, nil
}

// part decodes bytes [from, to) of a chunk into dst. If from is not the start of a block,
// it decodes the whole chunk.
func (b *bloscPack) part(dst, data []byte, from, to int) error {
	c, err := parseBlosc(data)
	switch {
	case err != nil:
		return err
	case c.flags&bloscStored != 0:
		if len(c.data)-bloscHeader < c.size {
			return errCutOff
		}
		copy(dst, c.data[bloscHeader+from:bloscHeader+to])
		return nil
	case c.size == 0:
		return nil
	case from%c.block != 0 || to%c.block != 0 && to != c.size:
		all := make([]byte, c.size)
		if err := c.blocks(all, 0, c.size); err != nil {
			return err
		}
		copy(dst, all[from:to])
		return nil
	}
	return c.blocks(dst, from, to)
}

// blocks decodes the blocks of bytes [from, to) into dst. The header is followed by the
// offset of each block.
func (c *bloscChunk) blocks(dst []byte, from, to int) error {
	if blocks := (c.size + c.block - 1) / c.block; blocks > (len(c.data)-bloscHeader)/4 {
		return errCutOff
	}
	var scratch []byte
	if c.shuffled() {
		scratch = make([]byte, c.block)
	}
	for i := from / c.block; i*c.block < to; i++ {
		start := int(int32(binary.LittleEndian.Uint32(c.data[bloscHeader+4*i:])))
		if start < bloscHeader || start > len(c.data) {
			return bad("damaged chunk: block %d starts at byte %d, want %d to %d", i, start, bloscHeader, len(c.data))
		}
		if err := c.decodeBlock(dst[i*c.block-from:min((i+1)*c.block, c.size)-from], scratch, c.data[start:]); err != nil {
			return err
		}
	}
	return nil
}

// shuffled reports whether the bytes or bits of elements are separated.
func (c *bloscChunk) shuffled() bool {
	return c.flags&bloscBitShuffled != 0 || c.flags&bloscShuffled != 0 && c.typeSize > 1
}

// decodeBlock decodes a block into dst. It has one stream per byte of an element, unless it
// is short, the last, or flagged otherwise.
func (c *bloscChunk) decodeBlock(dst, scratch, src []byte) error {
	into := dst
	if c.shuffled() {
		into = scratch[:len(dst)]
	}
	streams := 1
	if c.flags&bloscOneStream == 0 && len(dst) == c.block && c.typeSize <= 16 && c.block/c.typeSize >= 128 && c.block%c.typeSize == 0 {
		streams = c.typeSize
	}
	part := len(dst) / streams
	for k := range streams {
		if len(src) < 4 {
			return errCutOff
		}
		size := int(int32(binary.LittleEndian.Uint32(src)))
		src = src[4:]
		if size < 0 || size > len(src) {
			return errCutOff
		}
		if err := bloscStream(into[k*part:(k+1)*part], src[:size], c.flags>>5); err != nil {
			return err
		}
		src = src[size:]
	}
	switch {
	case c.flags&bloscBitShuffled != 0:
		unshuffleBits(dst, into, c.typeSize)
	case c.shuffled():
		codecs.Unshuffle(processor.Best(), dst, into, c.typeSize)
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
			return bad("damaged chunk: zlib: %v", err)
		}
		out, err := inflate(dst[:0:len(dst)], r, len(dst))
		if err == nil && len(out) != len(dst) {
			err = errCutOff
		}
		return err
	case 4:
		out, err := zstdDecoder().DecodeAll(src, dst[:0:len(dst)])
		if err != nil {
			return bad("damaged chunk: zstd: %v", err)
		}
		if len(out) != len(dst) {
			return bad("damaged chunk: zstd data decompresses to %d bytes, want %d", len(out), len(dst))
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
