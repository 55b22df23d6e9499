package store

import (
	"context"
	"math"
	"slices"
)

// A shard is an object of many chunks, with an index of where they are.
type shard struct {
	chunk   []int // shape of a chunk
	codecs  *chain
	index   *chain
	atStart bool
}

// absent marks a chunk that is not there in an index.
const absent = math.MaxUint64

func parseShard(n *named, t Type, fill []byte, shape []int, depth int) (*shard, error) {
	var config struct {
		ChunkShape    []int   `json:"chunk_shape"`
		Codecs        []named `json:"codecs"`
		IndexCodecs   []named `json:"index_codecs"`
		IndexLocation string  `json:"index_location"`
	}
	if err := n.configure(&config); err != nil {
		return nil, err
	}
	s := &shard{chunk: config.ChunkShape}
	if len(s.chunk) != len(shape) {
		return nil, bad("chunks of shape %v in shards of shape %v", s.chunk, shape)
	}
	if _, err := chunkBytes(s.chunk, t); err != nil {
		return nil, err
	}
	for i, c := range s.chunk {
		if shape[i]%c != 0 {
			return nil, bad("chunks of shape %v in shards of shape %v", s.chunk, shape)
		}
	}
	var err error
	if s.codecs, err = parseChain(config.Codecs, t, fill, s.chunk, depth+1); err != nil {
		return nil, err
	}
	if s.index, err = parseChain(config.IndexCodecs, Uint64, make([]byte, 8), s.indexShape(shape), depth+1); err != nil {
		return nil, err
	}
	if s.index.shard != nil || len(s.index.orders) > 0 {
		return nil, bad("the index of a shard has codecs that are not supported")
	}
	for _, p := range s.index.packs {
		if _, ok := p.(checksum); !ok {
			return nil, bad("the index of a shard is packed, and so has no fixed size")
		}
	}
	switch config.IndexLocation {
	case "start":
		s.atStart = true
	case "", "end":
	default:
		return nil, bad("the index of a shard at %q is neither at the start nor at the end", config.IndexLocation)
	}
	return s, nil
}

func (s *shard) describe() named {
	location := "end"
	if s.atStart {
		location = "start"
	}
	return named{Name: "sharding_indexed", Configuration: mustJSON(map[string]any{
		"chunk_shape": s.chunk, "codecs": s.codecs.describe(), "index_codecs": s.index.describe(), "index_location": location,
	})}
}

// counts is how many chunks a shard has along each axis.
func (s *shard) counts(shape []int) []int {
	counts := make([]int, len(shape))
	for i := range shape {
		counts[i] = shape[i] / s.chunk[i]
	}
	return counts
}

func (s *shard) indexShape(shape []int) []int { return append(s.counts(shape), 2) }

func product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// indexBytes is how long the index is in the object.
func (s *shard) indexBytes(shape []int) int {
	return 16*product(s.counts(shape)) + 4*len(s.index.packs)
}

// bound is how many bytes a shard has at most.
func (s *shard) bound(shape []int) int {
	n := product(s.chunk) * s.codecs.typ.Size()
	if s.codecs.shard != nil {
		n = s.codecs.shard.bound(s.chunk)
	}
	for _, p := range s.codecs.packs {
		n = p.bound(n)
	}
	return product(s.counts(shape))*n + s.indexBytes(shape)
}

// decodeIndex is the places of all chunks: where each begins, and how long it is.
func (s *shard) decodeIndex(data []byte, shape []int) ([]uint64, error) {
	index := make([]uint64, 2*product(s.counts(shape)))
	return index, s.index.decode(bytesOf(index), data, s.indexShape(shape))
}

// decode makes all chunks of a shard.
func (s *shard) decode(dst, data []byte, shape []int) error {
	n := s.indexBytes(shape)
	if len(data) < n {
		return bad("a shard of %d bytes has no index of %d", len(data), n)
	}
	at := data[len(data)-n:]
	if s.atStart {
		at = data[:n]
	}
	index, err := s.decodeIndex(at, shape)
	if err != nil {
		return err
	}
	size := s.codecs.typ.Size()
	chunk := aligned(product(s.chunk) * size)
	counts := s.counts(shape)
	place, origin := make([]int, len(counts)), make([]int, len(counts))
	zero := make([]int, len(counts))
	for i := range product(counts) {
		unravel(place, i, counts)
		for k := range origin {
			origin[k] = place[k] * s.chunk[k]
		}
		offset, length := index[2*i], index[2*i+1]
		if offset == absent && length == absent {
			fillBytes(chunk, s.codecs.fill)
		} else {
			if offset > uint64(len(data)) || length > uint64(len(data))-offset {
				return bad("a shard is damaged: chunk %v is not in it", place)
			}
			if err := s.codecs.decode(chunk, data[offset:offset+length], s.chunk); err != nil {
				return err
			}
		}
		copyBox(dst, shape, origin, chunk, s.chunk, zero, s.chunk, size)
	}
	return nil
}

// encode makes a shard of its elements. Chunks that hold nothing but the fill value are left out.
func (s *shard) encode(buf, data []byte, shape []int) ([]byte, error) {
	size := s.codecs.typ.Size()
	counts := s.counts(shape)
	chunk, empty := aligned(product(s.chunk)*size), aligned(product(s.chunk)*size)
	fillBytes(empty, s.codecs.fill)
	place, origin, zero := make([]int, len(counts)), make([]int, len(counts)), make([]int, len(counts))
	index := make([]uint64, 2*product(counts))
	out := buf[:0]
	if s.atStart {
		out = append(out, make([]byte, s.indexBytes(shape))...)
	}
	var packed []byte
	for i := range product(counts) {
		unravel(place, i, counts)
		for k := range origin {
			origin[k] = place[k] * s.chunk[k]
		}
		copyBox(chunk, s.chunk, zero, data, shape, origin, s.chunk, size)
		if slices.Equal(chunk, empty) {
			index[2*i], index[2*i+1] = absent, absent
			continue
		}
		encoded, err := s.codecs.encode(packed, chunk, s.chunk)
		if err != nil {
			return nil, err
		}
		index[2*i], index[2*i+1] = uint64(len(out)), uint64(len(encoded))
		out = append(out, encoded...)
		if len(encoded) > 0 && &encoded[0] != &chunk[0] {
			packed = encoded[:0]
		}
	}
	encoded, err := s.index.encode(nil, bytesOf(index), s.indexShape(shape))
	if err != nil {
		return nil, err
	}
	if s.atStart {
		copy(out, encoded)
		return out, nil
	}
	return append(out, encoded...), nil
}

// readIndex reads the index of a shard, and no more of it.
func (s *shard) readIndex(ctx context.Context, b Bucket, key string, shape []int) ([]uint64, error) {
	n := int64(s.indexBytes(shape))
	var data []byte
	var err error
	if s.atStart {
		data, err = b.Get(ctx, key, 0, n, nil)
	} else {
		data, err = b.Get(ctx, key, -n, -1, nil)
	}
	if err != nil {
		return nil, err
	}
	return s.decodeIndex(data, shape)
}

// unravel is the place of number i in a grid.
func unravel(place []int, i int, counts []int) {
	for k := len(counts) - 1; k >= 0; k-- {
		place[k] = i % counts[k]
		i /= counts[k]
	}
}

// ravel is the number of a place in a grid.
func ravel(place, counts []int) (i int) {
	for k, n := range counts {
		i = i*n + place[k]
	}
	return i
}

// copyBox copies a box of elements from one array to another.
func copyBox(dst []byte, dstShape, dstAt []int, src []byte, srcShape, srcAt, box []int, size int) {
	n := len(box)
	if n == 0 {
		copy(dst[:size], src)
		return
	}
	for _, b := range box {
		if b <= 0 {
			return
		}
	}
	// Axes at the end that are copied whole are one run.
	run, axis := size*box[n-1], n-1
	for axis > 0 && box[axis] == dstShape[axis] && box[axis] == srcShape[axis] {
		axis--
		run *= box[axis]
	}
	offset := func(shape, at []int) (o int) {
		for k := range shape {
			o = o*shape[k] + at[k]
		}
		return o * size
	}
	dStride, sStride := make([]int, n), make([]int, n)
	for k, d, s := n-1, size, size; k >= 0; k-- {
		dStride[k], sStride[k] = d, s
		d, s = d*dstShape[k], s*srcShape[k]
	}
	d, s := offset(dstShape, dstAt), offset(srcShape, srcAt)
	at := make([]int, axis)
	for {
		copy(dst[d:d+run], src[s:s+run])
		k := axis - 1
		for ; k >= 0; k-- {
			at[k]++
			d, s = d+dStride[k], s+sStride[k]
			if at[k] < box[k] {
				break
			}
			d, s = d-at[k]*dStride[k], s-at[k]*sStride[k]
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}
