package imgio

import (
	"math"
	"sync"
)

// Options say how pictures are read; the zero value reads them as viewers show them.
type Options struct {
	// Color is what becomes of colour.
	Color ColorMode
	// AsStored leaves the rows and columns in the order of the file, whatever
	// its orientation tag says.
	AsStored bool
	// Page is the page of a TIFF file, or the frame of a GIF file, from 1 on.
	// Zero stands for the first. Volumes have all pages, and do not look at it.
	Page int
	// Large reads pictures of more than [MaxPixels] too, one at a time.
	Large bool
	// Wide leaves integers of 64 bits as they are where they do not fit int32, or
	// those of uint64 uint32: the image is then a boxsum.Image64. Volumes do not look
	// at it.
	Wide bool

	wider bool // also those that fit
}

// limitUse is held by all who decode, and alone by who lifts the limit.
var limitUse sync.RWMutex

// liftLimit has the limit be as large says until the result is called.
func liftLimit(large bool) (restore func()) {
	if !large {
		limitUse.RLock()
		return limitUse.RUnlock
	}
	limitUse.Lock()
	before := pixelLimit
	pixelLimit = math.MaxInt / 64 // with 8 bytes for each of 4 channels, twice, an int holds the size
	return func() {
		pixelLimit = before
		limitUse.Unlock()
	}
}
