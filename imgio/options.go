package imgio

import (
	"math"
	"sync"
)

// Options configures how pictures are read. The zero value reads them as
// viewers show them.
type Options struct {
	// Color selects how color is converted.
	Color ColorMode
	// AsStored ignores orientation tags and keeps rows and columns in the order in
	// which they are stored.
	AsStored bool
	// Page is the page of a TIFF file, or the frame of a GIF file, from 1. Zero
	// means the first. OpenStack ignores it and reads all pages.
	Page int
	// Large allows pictures of more than [MaxPixels], one at a time.
	Large bool
	// Wide keeps 64-bit integers that do not fit int32 (or uint32 for uint64): the
	// image is then a boxsum.Image of 64-bit pixels. OpenStack ignores it.
	Wide bool

	wider bool // also keeps those that fit
}

// limitUse is held for reading by decoders, and for writing while the limit is
// lifted.
var limitUse sync.RWMutex

// liftLimit lifts the limit, if large is set, until restore is called.
func liftLimit(large bool) (restore func()) {
	if !large {
		limitUse.RLock()
		return limitUse.RUnlock
	}
	limitUse.Lock()
	before := pixelLimit
	pixelLimit = math.MaxInt / 64 // keeps the size in an int, with 8 bytes for each of 4 channels, twice
	return func() {
		pixelLimit = before
		limitUse.Unlock()
	}
}
