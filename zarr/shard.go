package zarr

import (
	"context"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
)

// A shard is an object that contains many chunks and an index of their locations.
type shard struct {
	chunk   []int // shape of a chunk
	codecs  *chain
	index   *chain
	atStart bool
}

// absent marks a missing chunk in the index.
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
		return nil, bad("chunk shape is %v, want a divisor of the shard shape, %v, along each axis", s.chunk, shape)
	}
	if _, err := chunkBytes(s.chunk, t); err != nil {
		return nil, err
	}
	for i, c := range s.chunk {
		if shape[i]%c != 0 {
			return nil, bad("chunk shape is %v, want a divisor of the shard shape, %v, along each axis", s.chunk, shape)
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
		return nil, bad("codecs of a shard's index include transpose or sharding_indexed, want bytes and crc32c only")
	}
	for _, p := range s.index.packs {
		if _, ok := p.(checksum); !ok {
			return nil, bad("codecs of a shard's index include compression, want bytes and crc32c only")
		}
	}
	switch config.IndexLocation {
	case "start":
		s.atStart = true
	case "", "end":
	default:
		return nil, bad("unknown shard index location %q, want start or end", config.IndexLocation)
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

// counts returns the number of chunks along each axis of a shard.
func (s *shard) counts(shape []int) []int {
	counts := make([]int, len(shape))
	for i := range shape {
		counts[i] = shape[i] / s.chunk[i]
	}
	return counts
}

func (s *shard) indexShape(shape []int) []int { return append(s.counts(shape), 2) }

// indexBytes returns the encoded size of the index.
func (s *shard) indexBytes(shape []int) int {
	return 16*raster.Product(s.counts(shape)) + 4*len(s.index.packs)
}

// bound returns the maximum size of a shard.
func (s *shard) bound(shape []int) int {
	n := raster.Product(s.chunk) * s.codecs.typ.Size()
	if s.codecs.shard != nil {
		n = s.codecs.shard.bound(s.chunk)
	}
	for _, p := range s.codecs.packs {
		n = p.bound(n)
	}
	return raster.Product(s.counts(shape))*n + s.indexBytes(shape)
}

// decodeIndex returns the locations of all chunks: the offset and the length of each.
func (s *shard) decodeIndex(data []byte, shape []int) ([]uint64, error) {
	index := make([]uint64, 2*raster.Product(s.counts(shape)))
	return index, s.index.decode(raster.Bytes(index), data, s.indexShape(shape))
}

// decode decodes all chunks of a shard.
func (s *shard) decode(dst, data []byte, shape []int) error {
	n := s.indexBytes(shape)
	if len(data) < n {
		return bad("damaged shard: %d bytes are too few for an index of %d", len(data), n)
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
	chunk := raster.Aligned(raster.Product(s.chunk) * size)
	counts := s.counts(shape)
	place, origin := make([]int, len(counts)), make([]int, len(counts))
	zero := make([]int, len(counts))
	for i := range raster.Product(counts) {
		unravel(place, i, counts)
		for k := range origin {
			origin[k] = place[k] * s.chunk[k]
		}
		offset, length := index[2*i], index[2*i+1]
		if offset == absent && length == absent {
			fillBytes(chunk, s.codecs.fill)
		} else {
			if offset > uint64(len(data)) || length > uint64(len(data))-offset {
				return bad("damaged shard: chunk %v lies outside it", place)
			}
			if err := s.codecs.decode(chunk, data[offset:offset+length], s.chunk); err != nil {
				return err
			}
		}
		copyBox(dst, shape, origin, chunk, s.chunk, zero, s.chunk, size)
	}
	return nil
}

// encode encodes the elements of a shard. It omits chunks that contain only the fill value.
func (s *shard) encode(buf, data []byte, shape []int) ([]byte, error) {
	size := s.codecs.typ.Size()
	counts := s.counts(shape)
	chunk, empty := raster.Aligned(raster.Product(s.chunk)*size), raster.Aligned(raster.Product(s.chunk)*size)
	fillBytes(empty, s.codecs.fill)
	place, origin, zero := make([]int, len(counts)), make([]int, len(counts)), make([]int, len(counts))
	index := make([]uint64, 2*raster.Product(counts))
	out := buf[:0]
	if s.atStart {
		out = append(out, make([]byte, s.indexBytes(shape))...)
	}
	var packed []byte
	for i := range raster.Product(counts) {
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
	encoded, err := s.index.encode(nil, raster.Bytes(index), s.indexShape(shape))
	if err != nil {
		return nil, err
	}
	if s.atStart {
		copy(out, encoded)
		return out, nil
	}
	return append(out, encoded...), nil
}

// readIndex reads only the index of a shard.
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
