package gpu

import (
	"errors"
	"fmt"
	"sync"

	"github.com/boxsum/boxsum"
)

// A Device is an open device. Several goroutines may use it, and the images and
// tables on it, at once: their work on the device runs one after another.
type Device struct {
	backend backend
	about   Info

	life   sync.Mutex
	users  int // calls under way
	idle   sync.Cond
	closed bool
	holds  int // who still needs the driver: the open device, pipelines under way, page-locked images

	// queue is held while a call puts its work on stream, so that the pieces
	// of two calls do not mix, and while it uses an image or table, so that
	// nobody closes that.
	queue  sync.Mutex
	stream stream

	mu     sync.Mutex
	held   map[memory]struct{} // what images and tables have
	spaces map[spaceKey]space
	calls  uint64              // of use, so far
	lanes  *lanes              // of the last IntegrateHost, for the next
	slots  *slots              // of the last Pipeline, for the next
	blocks []*block            // of NewHostImage
	others map[stream]struct{} // of package launch

	guests map[stream]*Device // what OnStream made
	lender *Device            // of a guest: whose backend it has
	fence  event              // of a guest: where its last work ends
}

func newDevice(b backend) (*Device, error) {
	s, err := b.newStream()
	if err != nil {
		return nil, firstError(err, b.close())
	}
	d := &Device{backend: b, about: b.info(), stream: s, holds: 1, held: map[memory]struct{}{}, spaces: map[spaceKey]space{}}
	d.idle.L = &d.life
	return d, nil
}

// Info describes the device.
func (d *Device) Info() Info {
	if d == nil {
		return Info{}
	}
	return d.about
}

// Memory is the free and total bytes on the device. Where the driver does not
// say what is free, free is what this package has not taken.
func (d *Device) Memory() (free, total int64, err error) {
	if err := d.enter(); err != nil {
		return 0, 0, err
	}
	defer d.leave()
	return d.backend.memory()
}

// Wait returns when all work queued on the device is done, with the error of
// work that failed.
func (d *Device) Wait() error {
	return d.use(func() error { return d.backend.wait(d.stream) })
}

// Close waits for the calls and the work under way, then frees the device and
// every image and table left on it. Closing again does nothing. A pipeline under
// way ends with [ErrClosed] and frees its part then.
func (d *Device) Close() error {
	if d == nil || d.backend == nil || !d.end() {
		return nil
	}
	guests := d.closeGuests()
	d.life.Lock()
	defer d.life.Unlock()
	errs := []error{guests, d.drain()}
	for s := range d.others {
		errs = append(errs, d.freeStream(s))
	}
	d.others = nil
	d.dropSpare()
	for m := range d.held {
		errs = append(errs, d.backend.free(m))
	}
	d.held = nil
	return firstError(append(errs, d.unhold())...)
}

// end keeps calls from beginning and waits for those under way. It says whether the
// device was open.
func (d *Device) end() bool {
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return false
	}
	d.closed = true
	if d.lender != nil {
		d.takeLeave()
	}
	for d.users > 0 {
		d.idle.Wait()
	}
	return true
}

// hold keeps the driver's side of an open device until release, also when the
// device is closed meanwhile. Unlike enter, it does not make Close wait.
func (d *Device) hold() error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	d.life.Lock()
	defer d.life.Unlock()
	d.holds++
	return nil
}

func (d *Device) release() error {
	d.life.Lock()
	defer d.life.Unlock()
	return d.unhold()
}

// unhold ends a hold, and with the last one the device.
func (d *Device) unhold() error {
	if d.holds--; d.holds > 0 {
		return nil
	}
	var errs []error
	for _, s := range d.spaces {
		errs = append(errs, d.backend.free(s.memory))
	}
	d.spaces = nil
	if d.lender != nil {
		return firstError(append(errs, d.depart())...)
	}
	errs = append(errs, d.backend.freeStream(d.stream), d.backend.close())
	return firstError(errs...)
}

// dropSpare frees lanes and slots that are only kept for later, and says whether there
// were any.
func (d *Device) dropSpare() bool {
	lanes, slots := d.dropLanes(), d.dropSlots()
	return lanes || slots
}

// makeRoom frees all that is only kept for later, also by those who share the device's
// memory, and says whether there was something.
func (d *Device) makeRoom() bool {
	spare, spaces := d.dropSpare(), d.dropSpaces()
	freed := spare || spaces
	for _, other := range d.family() {
		if other == d || other.enter() != nil { // Close waits, or frees it
			continue
		}
		spare, spaces = other.dropSpare(), other.dropSpaces()
		freed = freed || spare || spaces
		other.leave()
	}
	return freed
}

// dropSpaces frees the workspaces of the device's stream, and says whether there were
// any. Where a call is under way, which may be the caller's, its own ones stay.
func (d *Device) dropSpaces() bool {
	if d.queue.TryLock() {
		defer d.queue.Unlock()
		return d.freeSpaces(d.takeSpaces(true), d.drain)
	}
	if d.lender != nil {
		return false // its stream may be gone before this has waited for it
	}
	return d.dropOthers()
}

// dropOthers frees the workspaces of the device's stream that the call under way does
// not use.
func (d *Device) dropOthers() bool {
	return d.freeSpaces(d.takeSpaces(false), func() error { return d.backend.wait(d.stream) })
}

// takeSpaces takes workspaces out of what the device knows: calls that need them from
// now on get others. Those of lanes and slots go with their streams.
func (d *Device) takeSpaces(idle bool) (taken []space) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, s := range d.spaces {
		if key.stream == d.stream && (idle || s.call != d.calls) {
			taken = append(taken, s)
			delete(d.spaces, key)
		}
	}
	return taken
}

// freeSpaces frees workspaces after the work that uses them, and says whether there
// were any.
func (d *Device) freeSpaces(spaces []space, wait func() error) bool {
	if len(spaces) == 0 {
		return false
	}
	errs := []error{wait()}
	for _, s := range spaces {
		errs = append(errs, d.backend.free(s.memory))
	}
	return firstError(errs...) == nil
}

var errNilDevice = fmt.Errorf("gpu: %w: nil device: open one first", ErrNoDevice)

// enter begins a call, which keeps the device open until leave.
func (d *Device) enter() error {
	if d == nil || d.backend == nil {
		return errNilDevice
	}
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return fmt.Errorf("gpu: device %w", ErrClosed)
	}
	d.users++
	return nil
}

func (d *Device) leave() {
	d.life.Lock()
	defer d.life.Unlock()
	if d.users--; d.users == 0 {
		d.idle.Broadcast()
	}
}

// use runs f on an open device while nobody else queues work on its stream.
func (d *Device) use(f func() error) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	d.queue.Lock()
	defer d.queue.Unlock()
	d.mu.Lock()
	d.calls++
	d.mu.Unlock()
	if d.lender != nil {
		return d.fenced(f)
	}
	return f()
}

// take is device memory for an image or a table.
func (d *Device) take(bytes int64) (memory, error) {
	m, err := d.allocate(bytes)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held[m] = struct{}{}
	return m, nil
}

// give frees it, once.
func (d *Device) give(m memory) error {
	d.mu.Lock()
	_, ours := d.held[m]
	delete(d.held, m)
	d.mu.Unlock()
	if !ours {
		return fmt.Errorf("gpu: %w: memory that was not taken here", boxsum.ErrInvalid)
	}
	return d.backend.free(m)
}

// allocate is device memory, for which it gives up what is only kept for later.
func (d *Device) allocate(bytes int64) (memory, error) {
	bytes = max(bytes, 1)
	m, err := d.backend.alloc(bytes)
	if errors.Is(err, ErrMemory) && d.makeRoom() {
		m, err = d.backend.alloc(bytes)
	}
	return m, err
}

// A spaceKey is a stream and what its workspace is for.
type spaceKey struct {
	stream stream
	use    string
}

type space struct {
	memory memory
	bytes  int64
	state  *spaceState
	call   uint64 // the last of use that asked for it
}

// workspace is memory that belongs to one use of one stream, kept from call to
// call with what launches know of it. Both are zero the first time, and whenever
// more bytes are asked for than before or memory was short meanwhile. On the
// device's own stream it is for functions that use runs.
func (d *Device) workspace(s stream, use string, bytes int64) (at memory, state *spaceState, err error) {
	key := spaceKey{s, use}
	d.mu.Lock()
	old, ok := d.spaces[key]
	enough := ok && old.bytes >= bytes
	if enough {
		old.call = d.calls
		d.spaces[key] = old
	} else {
		delete(d.spaces, key)
	}
	d.mu.Unlock()
	if enough {
		return old.memory, old.state, nil
	}
	if ok { // first, so that both need not fit
		if err := firstError(d.backend.wait(s), d.backend.free(old.memory)); err != nil {
			return 0, nil, err
		}
	}
	bytes = roundUp(bytes, 1<<16)
	m, err := d.allocate(bytes)
	if errors.Is(err, ErrMemory) && s == d.stream && d.dropOthers() {
		m, err = d.backend.alloc(bytes)
	}
	if err != nil {
		return 0, nil, err
	}
	if err := d.backend.fill(s, plane{memory: m}, 0, bytes); err != nil {
		return 0, nil, firstError(err, d.backend.free(m))
	}
	state = &spaceState{}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spaces[key] = space{m, bytes, state, d.calls}
	return m, state, nil
}

// clearSpace makes a workspace and what launches know of it zero again.
func (d *Device) clearSpace(s stream, use string) error {
	d.mu.Lock()
	space := d.spaces[spaceKey{s, use}]
	d.mu.Unlock()
	if err := d.backend.fill(s, plane{memory: space.memory}, 0, space.bytes); err != nil {
		return err
	}
	*space.state = spaceState{}
	return nil
}

// freeStream frees a stream that is not the device's own, and its workspace.
func (d *Device) freeStream(s stream) error {
	errs := []error{d.backend.wait(s)}
	d.mu.Lock()
	for key, space := range d.spaces {
		if key.stream == s {
			errs = append(errs, d.backend.free(space.memory))
			delete(d.spaces, key)
		}
	}
	d.mu.Unlock()
	return firstError(append(errs, d.backend.freeStream(s))...)
}
