package imgio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
)

// Metadata is the information in a picture file other than its pixels. Formats
// that cannot store a part of it omit that part: PNM, GIF and .npy store none.
type Metadata struct {
	// XResolution and YResolution are in pixels per inch. Both are 0 if the file
	// does not specify them.
	XResolution, YResolution float64
	// Orientation is the EXIF orientation tag, 1 to 8, which tells viewers how to
	// rotate and mirror the pixels. It is 0 if the pixels are upright, as after
	// Open has applied the tag; only Options.AsStored leaves other values.
	Orientation int
	// ICCProfile describes the colors. Encode omits a profile that does not suit
	// the channels of the image, such as a color profile for a gray image.
	ICCProfile []byte
}

// maxProfile is the largest profile that is kept, which is the limit of JPEG.
const maxProfile = jpegProfileParts * jpegProfilePart

// readMetadata returns the metadata of a file, or of the page of a TIFF file
// that its header points to. Damaged parts are omitted.
func readMetadata(format string, data []byte) (m Metadata) {
	exif := exifOf(format, data)
	m.XResolution, m.YResolution = tiffResolution(exif)
	if _, tag := tiffTag(exif, tiffOrientation); tag >= 2 && tag <= 8 {
		m.Orientation = int(tag)
	}
	switch format {
	case "png":
		if p := chunk(data, 8, 4, binary.BigEndian, 4, "pHYs"); len(p) == 9 && p[8] == 1 {
			m.setPerMeter(binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:]))
		}
		m.ICCProfile = pngProfile(chunk(data, 8, 4, binary.BigEndian, 4, "iCCP"))
	case "jpeg":
		m.readJPEG(data)
	case "webp":
		m.ICCProfile = chunk(data, 12, 0, binary.LittleEndian, 0, "ICCP")
	case "tiff":
		_, _, m.ICCProfile = tiffEntry(data, tiffProfile)
	case "bmp":
		if len(data) >= 46 && binary.LittleEndian.Uint32(data[14:]) >= 40 {
			m.setPerMeter(binary.LittleEndian.Uint32(data[38:]), binary.LittleEndian.Uint32(data[42:]))
		}
	}
	m.ICCProfile = bytes.Clone(checkedProfile(m.ICCProfile))
	return m
}

// upright returns the metadata of the pixels after they have been rotated upright.
func (m Metadata) upright() Metadata {
	if m.Orientation >= 5 {
		m.XResolution, m.YResolution = m.YResolution, m.XResolution
	}
	m.Orientation = 0
	return m
}

// forChannels returns the metadata without a profile for other channels.
func (m Metadata) forChannels(n int) Metadata {
	m.ICCProfile = checkedProfile(m.ICCProfile)
	space := map[int]string{1: "GRAY", 2: "GRAY", 3: "RGB ", 4: "RGB "}[n]
	if len(m.ICCProfile) > 0 && string(m.ICCProfile[16:20]) != space {
		m.ICCProfile = nil
	}
	return m
}

const metersPerInch = 0.0254

func (m *Metadata) setPerMeter(x, y uint32) {
	if x > 0 && y > 0 {
		m.XResolution, m.YResolution = float64(x)*metersPerInch, float64(y)*metersPerInch
	}
}

// resolution returns both resolutions times scale. ok reports whether both are
// between least and most; unknown resolutions are not.
func (m Metadata) resolution(scale, least, most float64) (x, y float64, ok bool) {
	x, y = m.XResolution*scale, m.YResolution*scale
	return x, y, x >= least && y >= least && x <= most && y <= most
}

// checkedProfile returns an ICC profile without any bytes after its end, or nil
// if it is damaged or too long.
func checkedProfile(p []byte) []byte {
	const header = 128
	if len(p) < header || len(p) > maxProfile || string(p[36:40]) != "acsp" {
		return nil
	}
	n := binary.BigEndian.Uint32(p)
	if n < header || int64(n) > int64(len(p)) {
		return nil
	}
	return p[:n]
}

// pngProfile returns the profile in the contents of an iCCP chunk: a name, a
// zero, a compression method (always 0), and compressed data.
func pngProfile(contents []byte) []byte {
	_, rest, ok := bytes.Cut(contents, []byte{0})
	if !ok || len(rest) < 2 || rest[0] != 0 {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(rest[1:]))
	if err != nil {
		return nil
	}
	defer z.Close()
	profile, err := io.ReadAll(io.LimitReader(z, int64(maxProfile)+1))
	if err != nil {
		return nil
	}
	return profile
}

// readJPEG reads the profile, and the resolution in the JFIF segment, which takes
// precedence over EXIF.
func (m *Metadata) readJPEG(data []byte) {
	const app0, app2 = 0xe0, 0xe2
	var parts [][]byte // parts of the profile, by number
	found := 0
	for kind, segment := range jpegSegments(data) {
		switch {
		case kind == app0 && len(segment) >= 12 && string(segment[:5]) == "JFIF\x00":
			const perInch, perCentimeter = 1, 2
			scale := map[byte]float64{perInch: 1, perCentimeter: 2.54}[segment[7]]
			x, y := binary.BigEndian.Uint16(segment[8:]), binary.BigEndian.Uint16(segment[10:])
			if scale > 0 && x > 0 && y > 0 {
				m.XResolution, m.YResolution = float64(x)*scale, float64(y)*scale
			}
		case kind == app2 && len(segment) >= 14 && string(segment[:12]) == jpegProfileName:
			number, of := int(segment[12]), int(segment[13])
			if parts == nil {
				parts = make([][]byte, of)
			}
			if number < 1 || number > of || of != len(parts) || parts[number-1] != nil {
				parts = [][]byte{}
				continue
			}
			parts[number-1] = segment[14:]
			found++
		}
	}
	if found > 0 && found == len(parts) {
		m.ICCProfile = bytes.Join(parts, nil)
	}
}

// tiffResolution returns the resolution in the first directory, in pixels per
// inch, or zeros if there is none.
func tiffResolution(data []byte) (x, y float64) {
	const none, perInch, perCentimeter = 1, 2, 3
	scale := 1.0
	switch count, unit := tiffTag(data, tiffResolutionUnit); {
	case count == 0 || unit == perInch:
	case unit == perCentimeter:
		scale = 2.54
	default:
		return 0, 0
	}
	number := func(tag uint16) float64 {
		const rational = 5
		kind, _, value := tiffEntry(data, tag)
		if kind != rational || len(value) < 8 {
			return 0
		}
		order := tiffOrder(data)
		return float64(order.Uint32(value)) / float64(order.Uint32(value[4:])) * scale
	}
	x, y = number(tiffXResolution), number(tiffYResolution)
	if !(x > 0 && y > 0) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return 0, 0
	}
	return x, y
}

// withoutDamage returns a PNG file without ancillary chunks whose checksum is
// wrong, because image/png rejects the whole file for one of them.
func withoutDamage(data []byte) []byte {
	const ancillary = 0x20 // bit of the first letter of a chunk's name
	type part struct{ from, to int }
	var damaged []part
	for at := 8; at+12 <= len(data); {
		n := int64(binary.BigEndian.Uint32(data[at:]))
		if n > int64(len(data)-at-12) {
			break
		}
		next := at + 12 + int(n)
		name := data[at+4 : at+8]
		if name[0]&ancillary != 0 && string(name) != "tRNS" && binary.BigEndian.Uint32(data[next-4:]) != crc32.ChecksumIEEE(data[at+4:next-4]) {
			damaged = append(damaged, part{at, next})
		}
		at = next
	}
	if damaged == nil {
		return data
	}
	whole, at := make([]byte, 0, len(data)), 0
	for _, p := range damaged {
		whole = append(whole, data[at:p.from]...)
		at = p.to
	}
	return append(whole, data[at:]...)
}
