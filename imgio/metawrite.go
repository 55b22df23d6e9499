package imgio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"math"
)

// An inserter inserts metadata after the first bytes of an encoder's output.
type inserter struct {
	w     io.Writer
	after int // number of bytes left until then
	more  []byte
}

func (i *inserter) Write(b []byte) (int, error) {
	written := 0
	if i.after > 0 {
		n, err := i.w.Write(b[:min(len(b), i.after)])
		if i.after -= n; err != nil || i.after > 0 {
			return n, err
		}
		if _, err := i.w.Write(i.more); err != nil {
			return n, err
		}
		b, written = b[n:], n
	}
	n, err := i.w.Write(b)
	return written + n, err
}

// pngStart is the length of the signature and the IHDR chunk. Metadata chunks
// follow them.
const pngStart = 33

// pngChunks returns the metadata as PNG chunks.
func (m Metadata) pngChunks() (chunks []byte) {
	if len(m.ICCProfile) > 0 {
		b := bytes.NewBufferString("ICC profile\x00\x00")
		z := zlib.NewWriter(b)
		z.Write(m.ICCProfile) // writing to memory does not fail
		z.Close()
		chunks = appendChunk(chunks, "iCCP", b.Bytes())
	}
	if x, y, ok := m.resolution(1/metersPerInch, 1, math.MaxInt32); ok {
		p := binary.BigEndian.AppendUint32(nil, uint32(math.Round(x)))
		p = binary.BigEndian.AppendUint32(p, uint32(math.Round(y)))
		chunks = appendChunk(chunks, "pHYs", append(p, 1))
	}
	if m.turned() {
		chunks = appendChunk(chunks, "eXIf", m.exif())
	}
	return chunks
}

// jpegStart is the length of the marker that starts a JPEG file.
const jpegStart = 2

const (
	jpegProfileName  = "ICC_PROFILE\x00"
	jpegProfileParts = 255
	jpegProfilePart  = 65535 - 2 - len(jpegProfileName) - 2
)

// jpegSegments returns the metadata as JPEG segments.
func (m Metadata) jpegSegments() (segments []byte) {
	add := func(kind byte, parts ...[]byte) {
		contents := bytes.Join(parts, nil)
		segments = append(segments, 0xff, kind)
		segments = binary.BigEndian.AppendUint16(segments, uint16(2+len(contents)))
		segments = append(segments, contents...)
	}
	unit := byte(1)
	x, y, ok := m.resolution(1, 1, math.MaxUint16)
	if perCm := [2]float64{x / 2.54, y / 2.54}; isWhole(perCm[0]) && isWhole(perCm[1]) && !(isWhole(x) && isWhole(y)) {
		unit, x, y = 2, perCm[0], perCm[1]
	}
	if x, y = math.Round(x), math.Round(y); ok {
		density := binary.BigEndian.AppendUint16([]byte("JFIF\x00\x01\x02"+string(unit)), uint16(x))
		density = binary.BigEndian.AppendUint16(density, uint16(y))
		add(0xe0, density, []byte{0, 0})
	}
	if m.turned() {
		add(0xe1, []byte("Exif\x00\x00"), m.exif())
	}
	parts := (len(m.ICCProfile) + jpegProfilePart - 1) / jpegProfilePart
	for i := range parts {
		part := m.ICCProfile[i*jpegProfilePart:]
		add(0xe2, []byte(jpegProfileName), []byte{byte(i + 1), byte(parts)}, part[:min(len(part), jpegProfilePart)])
	}
	return segments
}

// isWhole reports whether a resolution is a whole number, up to the rounding
// errors of unit conversions.
func isWhole(v float64) bool { return math.Abs(v-math.Round(v)) < 1e-6 }

// turned reports whether viewers have to rotate or mirror the pixels.
func (m Metadata) turned() bool { return m.Orientation >= 2 && m.Orientation <= 8 }

// exif returns the orientation as EXIF, which is a TIFF file without a picture.
func (m Metadata) exif() []byte {
	var d tiffDirectory
	d.shorts(tiffOrientation, uint32(m.Orientation))
	return append(tiffStart(8), d.encode(8, 0)...)
}

// addTo adds the metadata to the directory of a page.
func (m Metadata) addTo(d *tiffDirectory) {
	if m.turned() {
		d.shorts(tiffOrientation, uint32(m.Orientation))
	}
	if x, y, ok := m.resolution(1, 1e-6, math.MaxUint32); ok {
		const perInch = 2
		d.rational(tiffXResolution, x)
		d.rational(tiffYResolution, y)
		d.shorts(tiffResolutionUnit, perInch)
	}
	if len(m.ICCProfile) > 0 {
		d.undefined(tiffProfile, m.ICCProfile)
	}
}
