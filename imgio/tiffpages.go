package imgio

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A tiffFile is the bytes of a TIFF file and where the directories of its pages
// are. Go's decoder reads the page that the header points to: page points it to
// another one.
type tiffFile struct {
	data  []byte // private, for page writes to it
	order binary.ByteOrder
	pages []uint32
}

// tiffHeader is the byte order, the number 42 and where the first directory is.
const tiffHeader = 8

// openTIFF finds the pages. Thumbnails and masks of other pages are none.
func openTIFF(data []byte) (*tiffFile, error) {
	if len(data) < tiffHeader {
		return nil, errors.New("tiff: the file is cut short in its header")
	}
	t := &tiffFile{data: data, order: tiffOrder(data)}
	seen := map[uint32]bool{}
	for at := t.order.Uint32(data[4:]); at != 0; {
		if seen[at] {
			return nil, fmt.Errorf("tiff: the file is damaged: directory %d follows itself", len(seen))
		}
		seen[at] = true
		next, picture, err := t.directory(at)
		if err != nil {
			return nil, fmt.Errorf("tiff: directory %d: %w", len(seen), err)
		}
		if picture {
			t.pages = append(t.pages, at)
		}
		at = next
	}
	if len(t.pages) == 0 {
		return nil, errors.New("tiff: the file has no pages")
	}
	return t, nil
}

// directory is where the directory after the one at a place is, 0 for the last,
// and whether the page there is a picture of its own.
func (t *tiffFile) directory(at uint32) (next uint32, picture bool, err error) {
	const entryBytes, subfileType, reduced, mask = 12, 254, 1, 4
	size := int64(len(t.data))
	if int64(at)+2 > size {
		return 0, false, fmt.Errorf("it would be at byte %d of %d: the file is cut short", at, size)
	}
	entries := int64(t.order.Uint16(t.data[at:]))
	end := int64(at) + 2 + entries*entryBytes
	if end+4 > size {
		return 0, false, fmt.Errorf("its %d entries end after the file: it is cut short", entries)
	}
	picture = true
	for e := t.data[at+2 : end]; len(e) > 0; e = e[entryBytes:] {
		if t.order.Uint16(e) == subfileType && t.order.Uint32(e[8:])&(reduced|mask) != 0 {
			picture = false
		}
	}
	return t.order.Uint32(t.data[end:]), picture, nil
}

// page is the file as one whose first page is page i, until the next call.
func (t *tiffFile) page(i int) []byte {
	t.order.PutUint32(t.data[4:], t.pages[i])
	return t.data
}
