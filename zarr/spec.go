package zarr

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Spec describes an array to [Create].
type Spec struct {
	// Type is the type of the elements.
	Type Type
	// Shape is the number of elements along each axis, the slowest axis first.
	Shape []int
	// Chunk is the shape of a chunk: the unit in which the array is compressed and decoded.
	Chunk []int
	// Shard is the shape of a shard: an object that contains many chunks, each of which can
	// be read alone. It must be a multiple of Chunk along each axis. If it is nil, each
	// chunk is a separate object.
	Shard []int
	// Compression is "none", "zstd", "gzip", "blosc" or "lz4"; empty means none. "blosc"
	// suits numbers of several bytes: it separates their bytes into planes and compresses
	// each plane with zstd unless it is noise. "lz4" is Blosc with LZ4 instead of zstd,
	// which is faster but less compact.
	Compression string
	// Level is the compression level; zero means 1 for zstd and blosc, and 6 for gzip.
	Level int
	// Checksum appends a CRC-32C to each chunk.
	Checksum bool
	// BigEndian stores the most significant byte of each element first.
	BigEndian bool
	// Order is the order of axes in which chunks are stored, the fastest varying axis last.
	// It is a permutation of the axes of Shape; nil keeps their order.
	Order []int
	// Fill is the value of elements that have not been written, such as 0.5; nil means 0.
	Fill any
	// Names holds the names of the axes, such as y and x, or nil.
	Names []string
	// Attributes is stored with the array as JSON.
	Attributes map[string]any
}

// metadata validates the specification and returns the metadata of its array.
func (s *Spec) metadata() (*metadata, error) {
	m := &metadata{typ: s.Type, shape: slices.Clone(s.Shape), object: s.Chunk, prefix: "c", separator: "/", version: 3}
	if s.Type.Size() == 0 {
		return nil, raster.Invalid("unsupported element type %v", s.Type)
	}
	if s.Shard != nil {
		m.object = s.Shard
	}
	m.object = slices.Clone(m.object)
	if err := m.checkShape(); err != nil {
		return nil, err
	}
	fill, err := s.fill()
	if err != nil {
		return nil, err
	}
	if m.fill, err = parseFill(s.Type, fill); err != nil {
		return nil, err
	}
	codecs, err := s.codecs()
	if err != nil {
		return nil, err
	}
	if m.codecs, err = parseChain(codecs, s.Type, m.fill, m.object, 0); err != nil {
		return nil, err
	}
	if s.Names != nil && len(s.Names) != len(s.Shape) {
		return nil, raster.Invalid("number of dimension names is %d, want %d (one for each axis)", len(s.Names), len(s.Shape))
	}
	m.names = s.Names
	for name, value := range s.Attributes {
		data, err := json.Marshal(value)
		if err != nil {
			return nil, raster.Invalid("attribute %q: %v", name, err)
		}
		if m.attributes == nil {
			m.attributes = map[string]json.RawMessage{}
		}
		m.attributes[name] = data
	}
	return m, nil
}

// fill returns the fill value as JSON, in which some floats are strings.
func (s *Spec) fill() (json.RawMessage, error) {
	if s.Fill == nil {
		return nil, nil
	}
	if f, ok := s.Fill.(float64); ok {
		switch {
		case f != f:
			return json.RawMessage(`"NaN"`), nil
		case math.IsInf(f, 1):
			return json.RawMessage(`"Infinity"`), nil
		case math.IsInf(f, -1):
			return json.RawMessage(`"-Infinity"`), nil
		}
	}
	fill, err := json.Marshal(s.Fill)
	if err != nil {
		return nil, raster.Invalid("fill value: %v", err)
	}
	return fill, nil
}

// codecs returns the codecs in the order in which they encode a chunk or a shard.
func (s *Spec) codecs() ([]named, error) {
	var inner []named
	if s.Order != nil {
		inner = append(inner, named{Name: "transpose", Configuration: mustJSON(map[string]any{"order": s.Order})})
	}
	endian := "little"
	if s.BigEndian {
		endian = "big"
	}
	inner = append(inner, named{Name: "bytes", Configuration: mustJSON(map[string]any{"endian": endian})})
	if s.Compression != "" && s.Compression != "none" {
		compressor, err := s.compressor()
		if err != nil {
			return nil, err
		}
		inner = append(inner, compressor)
	}
	if s.Checksum {
		inner = append(inner, named{Name: "crc32c"})
	}
	if s.Shard == nil {
		return inner, nil
	}
	return []named{{Name: "sharding_indexed", Configuration: mustJSON(map[string]any{
		"chunk_shape": s.Chunk, "codecs": inner, "index_location": "end",
		"index_codecs": []named{{Name: "bytes", Configuration: json.RawMessage(`{"endian":"little"}`)}, {Name: "crc32c"}},
	})}}, nil
}

// compressor returns the codec that compresses the bytes of a chunk.
func (s *Spec) compressor() (named, error) {
	switch level := s.Level; s.Compression {
	case "zstd":
		level = cmp.Or(level, 1)
		if level < -131072 || level > 22 {
			return named{}, raster.Invalid("zstd level is %d, want at most 22", level)
		}
		return named{Name: "zstd", Configuration: mustJSON(map[string]any{"level": level, "checksum": false})}, nil
	case "blosc":
		level = cmp.Or(level, 1)
		if level < 1 || level > 9 {
			return named{}, raster.Invalid("blosc level is %d, want 1 to 9", level)
		}
		return named{Name: "blosc", Configuration: mustJSON(&bloscPack{"zstd", level, "shuffle", s.Type.Size(), 0})}, nil
	case "lz4":
		if level != 0 {
			return named{}, raster.Invalid("lz4 has no levels: level is %d, want 0", level)
		}
		return named{Name: "blosc", Configuration: mustJSON(&bloscPack{"lz4", 1, "shuffle", s.Type.Size(), 0})}, nil
	case "gzip":
		return named{Name: "gzip", Configuration: mustJSON(map[string]any{"level": cmp.Or(level, 6)})}, nil
	}
	return named{}, raster.Invalid("unknown compression %q, want none, zstd, gzip, blosc or lz4", s.Compression)
}

// json returns the metadata as a zarr.json document.
func (m *metadata) json() []byte {
	a := arrayV3{
		ZarrFormat: 3, NodeType: "array", Shape: m.shape, DataType: mustJSON(m.typ.String()),
		ChunkGrid:        named{Name: "regular", Configuration: mustJSON(map[string]any{"chunk_shape": m.object})},
		ChunkKeyEncoding: named{Name: "default", Configuration: json.RawMessage(`{"separator":"/"}`)},
		FillValue:        fillJSON(m.typ, m.fill), Codecs: m.codecs.describe(), Attributes: m.attributes,
	}
	if a.Shape == nil {
		a.Shape = []int{}
	}
	for i := range m.names {
		a.DimensionNames = append(a.DimensionNames, &m.names[i])
	}
	if a.Attributes == nil {
		a.Attributes = map[string]json.RawMessage{}
	}
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(data, '\n')
}
