package zarr

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/boxsum/boxsum/internal/raster"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A chain encodes chunks as bytes: it transposes them, lays them out, in parts if they are
// shards, and then applies bytes-to-bytes codecs.
type chain struct {
	typ    Type
	fill   []byte
	orders [][]int // transpositions: axis i of the stored array is axis order[i] of the original
	swap   bool    // elements have the other byte order
	shard  *shard  // may be nil
	packs  []pack
}

// A pack is a bytes-to-bytes codec.
type pack interface {
	// unpack decodes data to at most limit bytes, in the memory of buf if they fit.
	unpack(buf, data []byte, limit int) ([]byte, error)
	// pack encodes data. It may use the memory of buf.
	pack(buf, data []byte) ([]byte, error)
	// bound returns the maximum encoded size of n bytes.
	bound(n int) int
	describe() named
}

// parseChain parses the codecs of an array whose objects have the given shape.
func parseChain(list []named, t Type, fill []byte, shape []int, depth int) (*chain, error) {
	c := &chain{typ: t, fill: fill}
	if depth > 4 {
		return nil, bad("shards are nested %d deep, want at most 4", depth)
	}
	laid := false
	for i := range list {
		n := &list[i]
		switch n.Name {
		case "transpose":
			if laid {
				return nil, bad("codec %q follows the one that converts to bytes, want it before", n.Name)
			}
			order, err := parseOrder(n, len(shape))
			if err != nil {
				return nil, err
			}
			c.orders = append(c.orders, order)
			shape = permuted(shape, order)
		case "bytes", "endian":
			if laid {
				return nil, bad("codec %q is the second that converts a chunk to bytes, want only one", n.Name)
			}
			laid = true
			var config struct{ Endian string }
			if err := n.configure(&config); err != nil {
				return nil, err
			}
			switch config.Endian {
			case "little":
				c.swap = raster.BigEndian
			case "big":
				c.swap = !raster.BigEndian
			case "":
				if t.Size() > 1 {
					return nil, bad("codec \"bytes\" has no endian for %v, want \"little\" or \"big\"", t)
				}
			default:
				return nil, bad("codec \"bytes\" has endian %q, want \"little\" or \"big\"", config.Endian)
			}
			c.swap = c.swap && t.Size() > 1
		case "sharding_indexed":
			if laid {
				return nil, bad("codec %q is the second that converts a chunk to bytes, want only one", n.Name)
			}
			laid = true
			var err error
			if c.shard, err = parseShard(n, t, fill, shape, depth); err != nil {
				return nil, err
			}
		default:
			if !laid {
				return nil, bad("codec %q is unknown, or precedes the one that converts to bytes", n.Name)
			}
			p, err := parseCodec(n, false)
			if err != nil {
				return nil, err
			}
			if len(c.packs) == 8 {
				return nil, bad("codec %q is the ninth after the one that converts to bytes, want at most 8", n.Name)
			}
			c.packs = append(c.packs, p)
		}
	}
	if !laid {
		return nil, bad("no codec converts a chunk to bytes, want one such as bytes")
	}
	return c, nil
}

func parseOrder(n *named, dims int) ([]int, error) {
	var config struct{ Order json.RawMessage }
	if err := n.configure(&config); err != nil {
		return nil, err
	}
	var order []int
	switch string(config.Order) { // as in drafts of the specification
	case `"C"`:
		for i := range dims {
			order = append(order, i)
		}
	case `"F"`:
		for i := range dims {
			order = append(order, dims-1-i)
		}
	default:
		if err := json.Unmarshal(config.Order, &order); err != nil {
			return nil, bad("codec \"transpose\" has an invalid order: %v", err)
		}
	}
	sorted := slices.Sorted(slices.Values(order))
	for i, axis := range sorted {
		if axis != i {
			return nil, bad("codec \"transpose\" has order %v, want a permutation of the axes 0 to %d", order, dims-1)
		}
	}
	if len(order) != dims {
		return nil, bad("codec \"transpose\" has order %v, want a permutation of the axes 0 to %d", order, dims-1)
	}
	return order, nil
}

func permuted(shape, order []int) []int {
	p := make([]int, len(order))
	for i, axis := range order {
		p[i] = shape[axis]
	}
	return p
}

// parseCodec parses a bytes-to-bytes codec. Version 2 has some that version 3 does not.
func parseCodec(n *named, v2 bool) (pack, error) {
	var config struct {
		Level    int  `json:"level"`
		Checksum bool `json:"checksum"`
	}
	level := struct {
		Level json.RawMessage `json:"level"`
	}{}
	if err := n.configure(&level); err != nil {
		return nil, err
	}
	if string(level.Level) == "null" {
		n = &named{Name: n.Name}
	}
	switch n.Name {
	case "crc32c":
		return checksum{}, nil
	case "zstd":
		if err := n.configure(&config); err != nil {
			return nil, err
		}
		return &zstdPack{config.Level, config.Checksum}, nil
	case "gzip":
		config.Level = 6
		if err := n.configure(&config); err != nil {
			return nil, err
		}
		if config.Level < 0 || config.Level > 9 {
			return nil, bad("gzip level is %d, want 0 to 9", config.Level)
		}
		return gzipPack(config.Level), nil
	case "blosc":
		b := &bloscPack{Name: "lz4", Level: 5, Shuffle: "noshuffle"}
		return b, n.configure(b)
	case "zlib":
		if v2 {
			return zlibPack{}, nil
		}
	case "lz4":
		if v2 {
			return lz4Pack{}, nil
		}
	case "numcodecs.zlib":
		return zlibPack{}, nil
	case "numcodecs.lz4":
		return lz4Pack{}, nil
	}
	return nil, bad("unknown codec %q, want bytes, transpose, sharding_indexed, zstd, gzip, blosc or crc32c", n.Name)
}

// scratch is pooled memory for decoding and encoding.
type scratch struct{ a, b []byte }

func newScratches() *sync.Pool { return &sync.Pool{New: func() any { return new(scratch) }} }

var scratches = newScratches()

// paged reports whether a part of a chunk can be decoded alone; see [chain.page].
func (c *chain) paged() bool {
	for i, p := range c.packs {
		_, sum := p.(checksum)
		_, blocks := p.(*bloscPack)
		if i == 0 && !blocks || i > 0 && !sum {
			return false
		}
	}
	return len(c.packs) > 0 && c.shard == nil && len(c.orders) == 0 && !c.swap
}

// checked verifies the checksums of a chunk and returns the data for [chain.page].
func (c *chain) checked(data []byte) (_ []byte, err error) {
	for i := len(c.packs) - 1; i > 0 && err == nil; i-- {
		data, err = c.packs[i].unpack(nil, data, len(data))
	}
	return data, err
}

// page decodes len(dst) bytes, starting at from, of a chunk that has size bytes.
func (c *chain) page(dst, data []byte, from, size int) error {
	n, err := bloscSize(data, size)
	if err == nil && n != size {
		err = bad("chunk has %d bytes, want %d", n, size)
	}
	if err != nil {
		return err
	}
	return c.packs[0].(*bloscPack).part(dst, data, from, from+len(dst))
}

// decode decodes a chunk of the given shape to elements in row-major order and this
// machine's byte order. dst must have their exact size.
func (c *chain) decode(dst, data []byte, shape []int) error {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	stored := shape
	for _, order := range c.orders {
		stored = permuted(stored, order)
	}
	limits := make([]int, len(c.packs)+1)
	limits[0] = len(dst)
	if c.shard != nil {
		limits[0] = c.shard.bound(stored)
	}
	for i, p := range c.packs {
		limits[i+1] = p.bound(limits[i])
	}
	for i := len(c.packs) - 1; i >= 0; i-- {
		into := s.a
		if i == 0 && c.shard == nil && len(c.orders) == 0 {
			into = dst // saves a copy
		}
		out, err := c.packs[i].unpack(into[:0], data, limits[i])
		if err != nil {
			return err
		}
		if i > 0 || c.shard != nil || len(c.orders) > 0 {
			if _, isSum := c.packs[i].(checksum); !isSum { // checksums return part of their input
				s.a = out[:0:cap(out)]
				s.a, s.b = s.b, s.a
			}
		}
		data = out
	}
	if c.shard != nil {
		into := dst
		if len(c.orders) > 0 {
			into = raster.Aligned(len(dst))
		}
		if err := c.shard.decode(into, data, stored); err != nil {
			return err
		}
		c.restore(dst, into, shape)
		return nil
	}
	if len(data) != len(dst) {
		return bad("chunk has %d bytes, want %d for its shape %v", len(data), len(dst), shape)
	}
	if len(c.orders) == 0 {
		if c.swap {
			raster.SwapBytes(dst, data, c.typ.Size())
		} else if len(dst) > 0 && &dst[0] != &data[0] {
			copy(dst, data)
		}
		return nil
	}
	c.restore(dst, data, shape)
	if c.swap {
		raster.SwapBytes(dst, dst, c.typ.Size())
	}
	return nil
}

// restore undoes the transpositions.
func (c *chain) restore(dst, src []byte, shape []int) {
	if len(c.orders) == 0 {
		return
	}
	// Combine all transpositions into one.
	order := make([]int, len(shape))
	for i := range order {
		order[i] = i
	}
	for _, o := range c.orders {
		order = permuted(order, o)
	}
	transpose(dst, src, shape, order, c.typ.Size(), true)
}

// transpose copies between an array of the given shape and its permutation, whose axis i is
// axis order[i] of the array. If back is set, src is the permutation; otherwise dst is.
func transpose(dst, src []byte, shape, order []int, size int, back bool) {
	n := len(shape)
	if n == 0 {
		copy(dst, src)
		return
	}
	strides := make([]int, n) // in the permuted array, by axis of the plain one
	step := size
	for i := n - 1; i >= 0; i-- {
		strides[order[i]] = step
		step *= shape[order[i]]
	}
	at := make([]int, n)
	last := n - 1
	offset := 0
	for plain := 0; plain < len(dst); {
		for range shape[last] {
			if back {
				copy(dst[plain:plain+size], src[offset:])
			} else {
				copy(dst[offset:offset+size], src[plain:])
			}
			plain += size
			offset += strides[last]
		}
		offset -= shape[last] * strides[last]
		for axis := last - 1; axis >= 0; axis-- {
			at[axis]++
			offset += strides[axis]
			if at[axis] < shape[axis] {
				break
			}
			offset -= at[axis] * strides[axis]
			at[axis] = 0
		}
	}
}

// encode encodes a chunk. The result is valid until the chunk or buf is used again.
func (c *chain) encode(buf, data []byte, shape []int) ([]byte, error) {
	if len(c.orders) > 0 {
		order := make([]int, len(shape))
		for i := range order {
			order[i] = i
		}
		for _, o := range c.orders {
			order = permuted(order, o)
		}
		turned := raster.Aligned(len(data))
		transpose(turned, data, shape, order, c.typ.Size(), false)
		data, shape = turned, permuted(shape, order)
	}
	var err error
	switch {
	case c.shard != nil:
		if data, err = c.shard.encode(buf, data, shape); err != nil {
			return nil, err
		}
		buf = nil
	case c.swap:
		turned := raster.Aligned(len(data))
		raster.SwapBytes(turned, data, c.typ.Size())
		data = turned
	}
	for _, p := range c.packs {
		packed, err := p.pack(buf, data)
		if err != nil {
			return nil, err
		}
		if _, isSum := p.(checksum); !isSum {
			buf = nil
		}
		data = packed
	}
	return data, nil
}

// describe returns the codecs as metadata.
func (c *chain) describe() (list []named) {
	for _, order := range c.orders {
		list = append(list, named{Name: "transpose", Configuration: mustJSON(map[string]any{"order": order})})
	}
	switch {
	case c.shard != nil:
		list = append(list, c.shard.describe())
	case c.typ.Size() == 1:
		list = append(list, named{Name: "bytes"})
	case c.swap != raster.BigEndian:
		list = append(list, named{Name: "bytes", Configuration: json.RawMessage(`{"endian":"big"}`)})
	default:
		list = append(list, named{Name: "bytes", Configuration: json.RawMessage(`{"endian":"little"}`)})
	}
	for _, p := range c.packs {
		list = append(list, p.describe())
	}
	return list
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// checksum appends the CRC-32C of the data, in four bytes.
type checksum struct{}

func (checksum) unpack(_, data []byte, _ int) ([]byte, error) {
	n := len(data) - 4
	if n < 0 {
		return nil, bad("damaged chunk: %d bytes are too few for a checksum", len(data))
	}
	if got, want := crc32.Checksum(data[:n], castagnoli), binary.LittleEndian.Uint32(data[n:]); got != want {
		return nil, bad("damaged chunk: its CRC-32C is %08x, want %08x", got, want)
	}
	return data[:n], nil
}

func (checksum) pack(buf, data []byte) ([]byte, error) {
	sum := crc32.Checksum(data, castagnoli)
	if cap(data)-len(data) < 4 { // data belongs to the caller
		data = append(slices.Grow(buf[:0], len(data)+4), data...)
	}
	return binary.LittleEndian.AppendUint32(data, sum), nil
}

func (checksum) bound(n int) int { return n + 4 }
func (checksum) describe() named { return named{Name: "crc32c"} }

type zstdPack struct {
	level    int
	checksum bool
}

var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err)
	}
	return d
})

type zstdKey struct {
	level    zstd.EncoderLevel
	checksum bool
}

var zstdEncoders sync.Map // from zstdKey to *zstd.Encoder

func (z *zstdPack) unpack(buf, data []byte, limit int) ([]byte, error) {
	if cap(buf) < limit {
		buf = raster.Aligned(limit)
	}
	out, err := zstdDecoder().DecodeAll(data, buf[:0:limit])
	if err != nil {
		return nil, bad("damaged chunk: zstd: %v", err)
	}
	return out, nil
}

func (z *zstdPack) pack(buf, data []byte) ([]byte, error) {
	level := zstd.EncoderLevelFromZstd(z.level)
	if z.level == 0 {
		level = zstd.SpeedDefault
	}
	key := zstdKey{level, z.checksum}
	encoder, ok := zstdEncoders.Load(key)
	if !ok {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(z.checksum), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, err
		}
		encoder, _ = zstdEncoders.LoadOrStore(key, e)
	}
	return encoder.(*zstd.Encoder).EncodeAll(data, buf[:0]), nil
}

func (z *zstdPack) bound(n int) int { return n + n>>7 + 1024 }
func (z *zstdPack) describe() named {
	return named{Name: "zstd", Configuration: mustJSON(map[string]any{"level": z.level, "checksum": z.checksum})}
}

type gzipPack int

func (g gzipPack) unpack(buf, data []byte, limit int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, bad("damaged chunk: gzip: %v", err)
	}
	return inflate(buf, r, limit)
}

// inflate reads r to its end, up to limit bytes.
func inflate(buf []byte, r io.Reader, limit int) ([]byte, error) {
	if cap(buf) < limit {
		buf = raster.Aligned(limit)
	}
	buf = buf[:limit]
	n, err := io.ReadFull(r, buf)
	if err == nil { // check for the end
		var one [1]byte
		var more int
		if more, err = io.ReadFull(r, one[:]); more > 0 {
			return nil, bad("damaged chunk: it decompresses to more than %d bytes", limit)
		}
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, bad("damaged chunk: %v", err)
	}
	if err == io.ErrUnexpectedEOF { // end of data, or truncated
		if _, err := r.Read(make([]byte, 1)); err != io.EOF {
			return nil, bad("damaged chunk: truncated data")
		}
	}
	return buf[:n], nil
}

func (g gzipPack) pack(buf, data []byte) ([]byte, error) {
	out := bytes.NewBuffer(buf[:0])
	w, err := gzip.NewWriterLevel(out, int(g))
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(data); err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

func (g gzipPack) bound(n int) int { return n + n>>8 + 1024 }
func (g gzipPack) describe() named {
	return named{Name: "gzip", Configuration: mustJSON(map[string]any{"level": int(g)})}
}

type zlibPack struct{}

func (zlibPack) unpack(buf, data []byte, limit int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, bad("damaged chunk: zlib: %v", err)
	}
	return inflate(buf, r, limit)
}

func (zlibPack) pack([]byte, []byte) ([]byte, error) {
	return nil, bad("chunks cannot be written with numcodecs.zlib (use gzip or zstd)")
}
func (zlibPack) bound(n int) int { return n + n>>8 + 1024 }
func (zlibPack) describe() named { return named{Name: "numcodecs.zlib"} }
