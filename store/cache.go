package store

import (
	"container/list"
	"sync"
)

// A cache keeps bytes up to a limit, those that were used last. What several ask for at once is
// loaded once.
type cache struct {
	lock     sync.Mutex
	limit    int64
	used     int64
	entries  map[cacheKey]*list.Element
	order    list.List // of *cached, the last used in front
	loading  map[cacheKey]*load
	decoding chan struct{} // has room for as many large chunks as may be decoded at once, or is nil
}

type cacheKey struct {
	of   *Array
	unit int // number of a chunk, or of a shard if page is indexPage
	page int // of a chunk that is read in parts
}

// Pages that are none.
const (
	wholeChunk  = -1
	indexPage   = -2
	packedChunk = -3 // of which pages are unpacked
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

// overhead is about what an entry takes besides its bytes.
const overhead = 200

func newCache(limit int64) *cache {
	return &cache{limit: limit, entries: map[cacheKey]*list.Element{}, loading: map[cacheKey]*load{}}
}

// get is the bytes of a key, which nobody may change. Those of an error are not kept.
func (c *cache) get(key cacheKey, read func() ([]byte, error)) ([]byte, error) {
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
		// It may have failed for reasons of the other caller, whose context was done.
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

func (c *cache) add(key cacheKey, data []byte) {
	size := int64(cap(data)) + overhead
	if size > c.limit {
		return
	}
	for c.used+size > c.limit {
		last := c.order.Back()
		e := last.Value.(*cached)
		c.order.Remove(last)
		delete(c.entries, e.key)
		c.used -= int64(cap(e.data)) + overhead
	}
	c.entries[key] = c.order.PushFront(&cached{key, data})
	c.used += size
}

// clear forgets all.
func (c *cache) clear() {
	c.lock.Lock()
	defer c.lock.Unlock()
	clear(c.entries)
	c.order.Init()
	c.used = 0
}
