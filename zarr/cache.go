package zarr

import (
	"container/list"
	"slices"
	"sync"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Cache keeps recently used chunks in memory, up to a number of bytes. Several arrays may
// share a cache; see [Array.SetCache]. A chunk that several goroutines request at the same
// time is read once.
type Cache struct {
	lock    sync.Mutex
	limit   int64
	used    int64
	entries map[cacheKey]*list.Element
	order   list.List // of *cached, most recently used first
	loading map[cacheKey]*load
}

type cacheKey struct {
	of   *Array
	unit int // number of the chunk, or of the shard if page is indexPage
	page int // of a chunk that is read in parts
}

// Special values of page.
const (
	wholeChunk  = -1
	indexPage   = -2
	packedChunk = -3 // encoded, to decode pages from
)

type cached struct {
	key  cacheKey
	data []byte
}

type load struct {
	done chan struct{}
	data []byte
	err  error
}

// overhead estimates the memory of an entry in addition to its bytes.
const overhead = 200

// NewCache returns an empty cache that holds up to the given number of bytes.
func NewCache(bytes int64) *Cache {
	return &Cache{limit: bytes, entries: map[cacheKey]*list.Element{}, loading: map[cacheKey]*load{}}
}

// get returns the bytes for a key, which must not be modified. If read fails, nothing is
// cached.
func (c *Cache) get(key cacheKey, read func() ([]byte, error)) ([]byte, error) {
	c.lock.Lock()
	if e := c.entries[key]; e != nil {
		c.order.MoveToFront(e)
		data := e.Value.(*cached).data
		c.lock.Unlock()
		return data, nil
	}
	if l := c.loading[key]; l != nil {
		c.lock.Unlock()
		<-l.done
		if l.err == nil {
			return l.data, nil
		}
		// The other caller may have failed for its own reasons, such as a canceled context.
		return read()
	}
	l := &load{done: make(chan struct{})}
	c.loading[key] = l
	c.lock.Unlock()
	l.data, l.err = read()
	c.lock.Lock()
	delete(c.loading, key)
	if l.err == nil {
		c.add(key, l.data)
	}
	c.lock.Unlock()
	close(l.done)
	return l.data, l.err
}

func (c *Cache) add(key cacheKey, data []byte) {
	size := int64(cap(data)) + overhead
	if size > c.limit {
		return
	}
	for c.used+size > c.limit {
		c.remove(c.order.Back())
	}
	c.entries[key] = c.order.PushFront(&cached{key, data})
	c.used += size
}

func (c *Cache) remove(e *list.Element) {
	old := e.Value.(*cached)
	c.order.Remove(e)
	delete(c.entries, old.key)
	c.used -= int64(cap(old.data)) + overhead
}

// Clear empties the cache. Call it after another program has written to an array that uses
// the cache.
func (c *Cache) Clear() {
	c.lock.Lock()
	defer c.lock.Unlock()
	clear(c.entries)
	c.order.Init()
	c.used = 0
}

// forget drops everything cached for an object that was written.
func (c *Cache) forget(a *Array, object []int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	place := make([]int, len(object))
	for key, e := range c.entries {
		if key.of != a {
			continue
		}
		if key.page == indexPage {
			unravel(place, key.unit, a.counts)
		} else {
			unravel(place, key.unit, a.units)
			for d := range place {
				place[d] = place[d] * a.unit[d] / a.m.object[d]
			}
		}
		if slices.Equal(place, object) {
			c.remove(e)
		}
	}
}

// SetCache makes the array keep chunks in c if they are read in part. c also keeps the
// chunks of arrays from which a [Computed] bucket computes its objects. Without SetCache,
// an array keeps only the elements that [At] reads and the indexes of shards, in a small
// cache of its own. Of the chunks larger than an eighth of the cache, only a few are
// decoded at a time. SetCache must not be called while the array is in use.
func (a *Array) SetCache(c *Cache) {
	var decoding chan struct{}
	if n := decoders(c.limit, a.Footprint()); n > 0 {
		decoding = make(chan struct{}, n)
	}
	a.setCache(c, decoding)
}

func (a *Array) setCache(c *Cache, decoding chan struct{}) {
	a.cache, a.keep, a.decoding = c, true, nil
	if b, ok := a.bucket.(Computed); ok && len(b.Parts()) > 0 {
		for _, part := range b.Parts() {
			part.setCache(c, decoding)
		}
	} else if a.decodes() > c.limit/8 {
		a.decoding = decoding
	}
}

// decoders returns the number of chunks of up to this size that may be decoded at once in
// addition to those kept, or 0 for no limit.
func decoders(limit, largest int64) int64 {
	if largest <= limit/8 {
		return 0
	}
	return max(1, limit/2/largest)
}

// Footprint returns the number of bytes decoded to read any single element: the size of a
// chunk, or more if the bucket is [Computed].
func (a *Array) Footprint() int64 {
	n := a.decodes()
	if b, ok := a.bucket.(Computed); ok {
		for _, part := range b.Parts() {
			n = max(n, part.Footprint())
		}
	}
	return n
}

// decodes is like [Array.Footprint] without the parts of the bucket.
func (a *Array) decodes() int64 {
	if b, ok := a.bucket.(Computed); ok && b.Footprint() > 0 {
		return b.Footprint()
	}
	return int64(raster.Product(a.unit)) * int64(a.m.typ.Size())
}
