package imgio

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A tiffFile is a TIFF file and the positions of its pages' directories. Go's
// decoder reads the page that the header points to; the method page changes
// that pointer.
type tiffFile struct {
	data  []byte // private, since page writes to it
	order binary.ByteOrder
	pages []uint32
}

// tiffHeader is the size of the byte order, the number 42 and the first
// directory's position.
const tiffHeader = 8

// openTIFF finds the pages. Thumbnails and masks of other pages do not count. With an error for
// damage after the first page, it also returns the pages before it.
func openTIFF(data []byte) (*tiffFile, error) {
	if len(data) < tiffHeader {
		return nil, fmt.Errorf("truncated TIFF header: the file has %d bytes, want at least %d", len(data), tiffHeader)
	}
	t := &tiffFile{data: data, order: tiffOrder(data)}
	damaged := func(err error) (*tiffFile, error) {
		if len(t.pages) == 0 {
			return nil, err
		}
		return t, err
	}
	seen := map[uint32]bool{}
	for at := t.order.Uint32(data[4:]); at != 0; {
		if seen[at] {
			return damaged(fmt.Errorf("the TIFF file is damaged: the directories after directory %d repeat earlier ones", len(seen)))
		}
		seen[at] = true
		next, picture, err := t.directory(at)
		if err != nil {
			return damaged(fmt.Errorf("directory %d of the TIFF file: %w", len(seen), err))
		}
		if picture {
			t.pages = append(t.pages, at)
		}
		at = next
	}
	if len(t.pages) == 0 {
		return nil, errors.New("the TIFF file has no pages")
	}
	return t, nil
}

// directory parses the directory at the given position. It returns the position
// of the next directory, 0 after the last, and whether the page is a picture
// rather than a thumbnail or mask.
func (t *tiffFile) directory(at uint32) (next uint32, picture bool, err error) {
	const entryBytes, subfileType, reduced, mask = 12, 254, 1, 4
	size := int64(len(t.data))
	if int64(at)+2 > size {
		return 0, false, fmt.Errorf("truncated file: the directory is at byte %d, but the file has %d bytes", at, size)
	}
	entries := int64(t.order.Uint16(t.data[at:]))
	end := int64(at) + 2 + entries*entryBytes
	if end+4 > size {
		return 0, false, fmt.Errorf("truncated file: the directory's %d entries end at byte %d, but the file has %d bytes", entries, end+4, size)
	}
	picture = true
	for e := t.data[at+2 : end]; len(e) > 0; e = e[entryBytes:] {
		if t.order.Uint16(e) == subfileType && t.order.Uint32(e[8:])&(reduced|mask) != 0 {
			picture = false
		}
	}
	return t.order.Uint32(t.data[end:]), picture, nil
}

// page returns the file with page i as its first, valid until the next call.
func (t *tiffFile) page(i int) []byte {
	t.order.PutUint32(t.data[4:], t.pages[i])
	return t.data
}
