package zarr

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// Limits for metadata. A chunk is decoded as a whole, so it has to fit in memory.
const (
	maxDims       = 32
	maxChunkBytes = math.MaxInt32
	maxMetadata   = 64 << 20
)

// metadata describes an array, regardless of its Zarr version.
type metadata struct {
	typ        Type
	shape      []int
	object     []int // shape of the elements in one object: a chunk or a shard
	codecs     *chain
	fill       []byte // an element, in this machine's byte order
	separator  string
	prefix     string // of keys: "c" and the separator, or empty
	names      []string
	attributes map[string]json.RawMessage
	version    int
}

// named is an extension point of version 3: a name with an optional configuration.
type named struct {
	Name           string          `json:"name"`
	Configuration  json.RawMessage `json:"configuration,omitempty"`
	MustUnderstand *bool           `json:"must_understand,omitempty"`
}

func (n *named) UnmarshalJSON(data []byte) error {
	*n = named{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &n.Name)
	}
	type plain named
	return json.Unmarshal(data, (*plain)(n))
}

// configure parses the configuration, if there is one.
func (n *named) configure(into any) error {
	if len(n.Configuration) == 0 || string(n.Configuration) == "null" {
		return nil
	}
	if err := json.Unmarshal(n.Configuration, into); err != nil {
		return bad("configuration of %q: %v", n.Name, err)
	}
	return nil
}

type arrayV3 struct {
	ZarrFormat          int                        `json:"zarr_format"`
	NodeType            string                     `json:"node_type"`
	Shape               []int                      `json:"shape"`
	DataType            json.RawMessage            `json:"data_type"`
	ChunkGrid           named                      `json:"chunk_grid"`
	ChunkKeyEncoding    named                      `json:"chunk_key_encoding"`
	FillValue           json.RawMessage            `json:"fill_value"`
	Codecs              []named                    `json:"codecs"`
	Attributes          map[string]json.RawMessage `json:"attributes,omitempty"`
	DimensionNames      []*string                  `json:"dimension_names,omitempty"`
	StorageTransformers []named                    `json:"storage_transformers,omitempty"`
}

var knownV3 = []string{"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs",
	"attributes", "dimension_names", "storage_transformers", "consolidated_metadata"}

// understood returns an error if data has unknown members that must be understood.
func understood(data []byte, known []string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return bad("Zarr metadata is not JSON: %v", err)
	}
	for name, value := range members {
		if slices.Contains(known, name) {
			continue
		}
		var n struct {
			MustUnderstand *bool `json:"must_understand"`
		}
		if json.Unmarshal(value, &n) != nil || n.MustUnderstand == nil || *n.MustUnderstand {
			return bad("Zarr metadata has unknown member %q", name)
		}
	}
	return nil
}

// parseV3 parses the metadata of an array of version 3.
func parseV3(data []byte) (*metadata, error) {
	if err := understood(data, knownV3); err != nil {
		return nil, err
	}
	var a arrayV3
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, bad("Zarr metadata: %v", err)
	}
	if a.ZarrFormat != 3 || a.NodeType != "array" {
		return nil, bad("Zarr metadata describes a %q of format %d, want an array of format 3", a.NodeType, a.ZarrFormat)
	}
	m := &metadata{shape: a.Shape, attributes: a.Attributes, version: 3}
	var err error
	if m.typ, err = parseDataType(a.DataType); err != nil {
		return nil, err
	}
	if len(a.StorageTransformers) > 0 {
		return nil, bad("storage transformer %q is not supported, want none", a.StorageTransformers[0].Name)
	}
	if a.ChunkGrid.Name != "regular" {
		return nil, bad("unknown chunk grid %q, want regular", a.ChunkGrid.Name)
	}
	var grid struct {
		ChunkShape []int `json:"chunk_shape"`
	}
	if err := a.ChunkGrid.configure(&grid); err != nil {
		return nil, err
	}
	m.object = grid.ChunkShape
	if err := m.checkShape(); err != nil {
		return nil, err
	}
	if m.fill, err = parseFill(m.typ, a.FillValue); err != nil {
		return nil, err
	}
	if len(a.FillValue) == 0 || string(a.FillValue) == "null" {
		return nil, bad("Zarr metadata has no fill value")
	}
	if err := m.encodeKeys(&a.ChunkKeyEncoding); err != nil {
		return nil, err
	}
	if m.codecs, err = parseChain(a.Codecs, m.typ, m.fill, m.object, 0); err != nil {
		return nil, err
	}
	if a.DimensionNames != nil && len(a.DimensionNames) != len(m.shape) {
		return nil, bad("number of dimension names is %d, want %d (one for each axis)", len(a.DimensionNames), len(m.shape))
	}
	for _, name := range a.DimensionNames {
		if name == nil {
			m.names = append(m.names, "")
		} else {
			m.names = append(m.names, *name)
		}
	}
	return m, nil
}

// parseDataType returns a type given by its name or by an object with a name.
func parseDataType(value json.RawMessage) (Type, error) {
	var name string
	if err := json.Unmarshal(value, &name); err != nil {
		var n named
		if json.Unmarshal(value, &n) != nil || n.Name == "" {
			return 0, bad("Zarr metadata has no data type")
		}
		name = n.Name
	}
	return ParseType(name)
}

// encodeKeys sets how the keys of chunks are made from their indexes.
func (m *metadata) encodeKeys(encoding *named) error {
	var key struct {
		Separator string `json:"separator"`
	}
	if err := encoding.configure(&key); err != nil {
		return err
	}
	switch encoding.Name {
	case "default":
		m.prefix, m.separator = "c", "/"
	case "v2":
		m.separator = "."
	default:
		return bad("chunk key encoding is %q, want default or v2", encoding.Name)
	}
	if key.Separator != "" {
		m.separator = key.Separator
	}
	if m.separator != "/" && m.separator != "." {
		return bad("unknown separator %q of chunk keys, want / or .", m.separator)
	}
	return nil
}

// checkShape returns an error for invalid shapes.
func (m *metadata) checkShape() error {
	if len(m.shape) > maxDims || len(m.object) != len(m.shape) {
		return bad("array shape is %v and chunk shape %v, want the same number of axes, at most %d", m.shape, m.object, maxDims)
	}
	n := 1
	for _, s := range m.shape {
		if s < 0 || s > 0 && n > math.MaxInt/16/s {
			return bad("array shape is %v, want no negative length and at most %d elements", m.shape, math.MaxInt/16)
		}
		n *= max(s, 1)
	}
	_, err := chunkBytes(m.object, m.typ)
	return err
}

// chunkBytes returns the size in bytes of a chunk.
func chunkBytes(shape []int, t Type) (int, error) {
	n := t.Size()
	for _, s := range shape {
		if s < 1 {
			return 0, bad("chunk shape is %v, want lengths of at least 1", shape)
		}
		if n > maxChunkBytes/s {
			return 0, bad("chunk shape is %v, want at most 2 GiB of %v", shape, t)
		}
		n *= s
	}
	return n, nil
}

type arrayV2 struct {
	ZarrFormat int             `json:"zarr_format"`
	Shape      []int           `json:"shape"`
	Chunks     []int           `json:"chunks"`
	DType      json.RawMessage `json:"dtype"`
	Compressor json.RawMessage `json:"compressor"`
	FillValue  json.RawMessage `json:"fill_value"`
	Order      string          `json:"order"`
	Filters    []struct {
		ID string `json:"id"`
	} `json:"filters"`
	DimensionSeparator string `json:"dimension_separator"`
}

// parseV2 parses the .zarray of version 2. Attributes are in another object.
func parseV2(data []byte) (*metadata, error) {
	var a arrayV2
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, bad("Zarr metadata: %v", err)
	}
	if a.ZarrFormat != 2 {
		return nil, bad(".zarray has zarr_format %d, want 2", a.ZarrFormat)
	}
	m := &metadata{shape: a.Shape, object: a.Chunks, separator: ".", version: 2}
	var dtype string
	if err := json.Unmarshal(a.DType, &dtype); err != nil || len(dtype) < 3 {
		return nil, bad("dtype is %s, want a bool, integer or float of 1 to 8 bytes, such as \"<u2\"", a.DType)
	}
	for t := Bool; int(t) < len(types); t++ {
		if types[t].v2 == dtype[1:] {
			m.typ = t
		}
	}
	if m.typ == 0 || !strings.ContainsRune("<>|", rune(dtype[0])) || dtype[0] == '|' && m.typ.Size() > 1 {
		return nil, bad("dtype is %q, want a bool, integer or float of 1 to 8 bytes, such as <u2", dtype)
	}
	if err := m.checkShape(); err != nil {
		return nil, err
	}
	var err error
	if m.fill, err = parseFill(m.typ, a.FillValue); err != nil {
		return nil, err
	}
	if len(a.Filters) > 0 {
		return nil, bad("filter %q is not supported, want none", a.Filters[0].ID)
	}
	switch a.DimensionSeparator {
	case "":
	case ".", "/":
		m.separator = a.DimensionSeparator
	default:
		return nil, bad("unknown separator %q of chunk keys, want / or .", a.DimensionSeparator)
	}
	m.codecs = &chain{typ: m.typ, fill: m.fill, swap: dtype[0] == '>' != raster.BigEndian && m.typ.Size() > 1}
	switch a.Order {
	case "C", "":
	case "F":
		var order []int
		for i := range m.shape {
			order = append(order, len(m.shape)-1-i)
		}
		m.codecs.orders = [][]int{order}
	default:
		return nil, bad("unknown order %q, want C or F", a.Order)
	}
	if len(a.Compressor) > 0 && string(a.Compressor) != "null" {
		var compressor struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(a.Compressor, &compressor); err != nil {
			return nil, bad("compressor in .zarray: %v", err)
		}
		codec, err := parseCodec(&named{Name: compressor.ID, Configuration: a.Compressor}, true)
		if err != nil {
			return nil, err
		}
		m.codecs.packs = append(m.codecs.packs, codec)
	}
	return m, nil
}

// ParseElement returns an element, in this machine's byte order, from the JSON of a fill
// value, which may be a number, a boolean, "NaN", "Infinity", "-Infinity" or the bits of
// a float as "0x…". Empty JSON and null mean zero.
func (t Type) ParseElement(value json.RawMessage) ([]byte, error) { return parseFill(t, value) }

func parseFill(t Type, value json.RawMessage) ([]byte, error) {
	bits, ok := fillBits(t, value)
	if !ok {
		return nil, bad("fill value %s is not a %v", value, t)
	}
	fill := make([]byte, 8)
	switch t.Size() {
	case 1:
		fill[0] = byte(bits)
	case 2:
		binary.NativeEndian.PutUint16(fill, uint16(bits))
	case 4:
		binary.NativeEndian.PutUint32(fill, uint32(bits))
	default:
		binary.NativeEndian.PutUint64(fill, bits)
	}
	return fill[:t.Size()], nil
}

// fillBits returns the bits of a fill value, and whether it is one of the type.
func fillBits(t Type, value json.RawMessage) (bits uint64, ok bool) {
	if len(value) == 0 || string(value) == "null" {
		return 0, true
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return 0, false
	}
	switch v := v.(type) {
	case bool:
		if v {
			bits = 1
		}
		return bits, t == Bool
	case json.Number:
		return numberBits(t, v.String())
	case string:
		return textBits(t, v)
	}
	return 0, false
}

// numberBits returns the bits of a fill value that is a number in JSON.
func numberBits(t Type, number string) (bits uint64, ok bool) {
	switch {
	case t.isFloat():
		x, err := strconv.ParseFloat(number, 64)
		return floatBits(t, x), err == nil || errors.Is(err, strconv.ErrRange)
	case t.isSigned():
		x, err := strconv.ParseInt(integral(number), 10, 8*t.Size())
		return uint64(x), err == nil
	}
	size := 8 * t.Size()
	if t == Bool {
		size = 1
	}
	x, err := strconv.ParseUint(integral(number), 10, size)
	return x, err == nil
}

// textBits returns the bits of a fill value that is a string in JSON: a float that is not a
// number, or the bits of one.
func textBits(t Type, text string) (bits uint64, ok bool) {
	switch {
	case !t.isFloat():
		return 0, false
	case text == "NaN":
		return floatBits(t, math.Float64frombits(0x7ff8<<48)), true // Zarr's NaN, which differs from Go's in one bit
	case text == "Infinity":
		return floatBits(t, math.Inf(1)), true
	case text == "-Infinity":
		return floatBits(t, math.Inf(-1)), true
	case strings.HasPrefix(text, "0x") && len(text) == 2+2*t.Size():
		x, err := strconv.ParseUint(text[2:], 16, 8*t.Size())
		return x, err == nil
	}
	return 0, false
}

// floatBits returns the bits of a float in a type.
func floatBits(t Type, x float64) uint64 {
	switch t {
	case Float16:
		return uint64(floatToHalf(x))
	case Float32:
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// integral returns an integer as usually written: some writers have 0.0.
func integral(s string) string { return strings.TrimSuffix(s, ".0") }

// fillJSON returns a fill value as JSON.
func fillJSON(t Type, fill []byte) json.RawMessage {
	var bits uint64
	switch t.Size() {
	case 1:
		bits = uint64(fill[0])
	case 2:
		bits = uint64(binary.NativeEndian.Uint16(fill))
	case 4:
		bits = uint64(binary.NativeEndian.Uint32(fill))
	default:
		bits = binary.NativeEndian.Uint64(fill)
	}
	var x float64
	switch t {
	case Bool:
		return json.RawMessage(strconv.FormatBool(bits != 0))
	case Int8:
		return json.RawMessage(strconv.FormatInt(int64(int8(bits)), 10))
	case Int16:
		return json.RawMessage(strconv.FormatInt(int64(int16(bits)), 10))
	case Int32:
		return json.RawMessage(strconv.FormatInt(int64(int32(bits)), 10))
	case Int64:
		return json.RawMessage(strconv.FormatInt(int64(bits), 10))
	case Float16:
		x = float64(FromFloat16(uint16(bits)))
	case Float32:
		x = float64(math.Float32frombits(uint32(bits)))
	case Float64:
		x = math.Float64frombits(bits)
	default:
		return json.RawMessage(strconv.FormatUint(bits, 10))
	}
	if x != x || math.IsInf(x, 0) {
		return json.RawMessage(fmt.Sprintf(`"0x%0*x"`, 2*t.Size(), bits))
	}
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return json.RawMessage(text)
}

// key returns the key of the object at a position in the grid.
func (m *metadata) key(at []int) string {
	if len(at) == 0 {
		if m.prefix != "" {
			return m.prefix
		}
		return "0"
	}
	b := make([]byte, 0, 24)
	b = append(b, m.prefix...)
	for i, p := range at {
		if i > 0 || m.prefix != "" {
			b = append(b, m.separator...)
		}
		b = strconv.AppendInt(b, int64(p), 10)
	}
	return string(b)
}
