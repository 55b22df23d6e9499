package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/internal/launch"
)

func init() {
	launch.Open = func(device any) (launch.Device, error) {
		d, ok := device.(*Device)
		if !ok || d == nil || d.backend == nil {
			return nil, errNilDevice
		}
		return &launcher{device: d, locked: map[*byte]hostMemory{}}, nil
	}
}

// A launcher is a device as package launch wants it.
type launcher struct {
	device *Device

	mu     sync.Mutex
	locked map[*byte]hostMemory // by where it begins
}

func (l *launcher) Main() launch.Stream { return launch.Stream(l.device.stream) }

func (l *launcher) NewStream() (s launch.Stream, err error) {
	d := l.device
	err = d.use(func() error {
		made, err := d.backend.newStream()
		if err != nil {
			return err
		}
		s = launch.Stream(made)
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.others == nil {
			d.others = map[stream]struct{}{}
		}
		d.others[made] = struct{}{}
		return nil
	})
	return s, err
}

func (l *launcher) FreeStream(s launch.Stream) error {
	d := l.device
	err := d.use(func() error {
		d.mu.Lock()
		_, ours := d.others[stream(s)]
		delete(d.others, stream(s))
		d.mu.Unlock()
		if !ours {
			return fmt.Errorf("gpu: %w: a stream that was not made here", boxsum.ErrInvalid)
		}
		return d.freeStream(stream(s))
	})
	if errors.Is(err, ErrClosed) {
		return nil // it went with the device
	}
	return err
}

func (l *launcher) Join(later, earlier launch.Stream) error {
	b := l.device.backend
	return l.device.use(func() error {
		e, err := b.record(stream(earlier))
		if err != nil {
			return err
		}
		return firstError(b.waitFor(stream(later), e), b.freeEvent(e))
	})
}

func (l *launcher) Wait(s launch.Stream) error {
	return l.device.use(func() error { return l.device.backend.wait(stream(s)) })
}

func (l *launcher) Alloc(bytes int64) (m launch.Buffer, err error) {
	d := l.device
	err = d.use(func() error {
		taken, err := d.take(bytes)
		if err != nil {
			return err
		}
		m = launch.Buffer(taken)
		err = d.backend.fill(d.stream, plane{memory: taken}, 0, bytes)
		if err == nil {
			err = d.backend.wait(d.stream) // other streams may be the first to use it
		}
		if err != nil {
			return firstError(err, d.give(taken))
		}
		return nil
	})
	return m, err
}

func (l *launcher) Free(m launch.Buffer) error {
	d := l.device
	err := d.use(func() error { return firstError(d.backend.wait(d.stream), d.give(memory(m))) })
	if errors.Is(err, ErrClosed) {
		return nil // it went with the device
	}
	return err
}

func (l *launcher) AllocHost(bytes int64) ([]byte, error) {
	if err := l.device.hold(); err != nil {
		return nil, err
	}
	m, err := l.device.allocateHost(max(bytes, 1))
	if err != nil {
		return nil, firstError(err, l.device.release())
	}
	host := unsafe.Slice((*byte)(m.at), max(bytes, 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locked[&host[0]] = m
	return host[:bytes], nil
}

func (l *launcher) FreeHost(host []byte) error {
	l.mu.Lock()
	m, ok := l.locked[unsafe.SliceData(host)]
	delete(l.locked, unsafe.SliceData(host))
	l.mu.Unlock()
	if !ok {
		return nil
	}
	return firstError(l.device.backend.freeHost(m), l.device.release())
}

// isLocked says whether a slice lies in page-locked memory.
func (l *launcher) isLocked(host []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(host)))
	for _, m := range l.locked {
		if first := uintptr(m.at); at >= first && at < first+uintptr(m.bytes) {
			return true
		}
	}
	return false
}

func (l *launcher) CopyIn(s launch.Stream, dst launch.Rows, src []byte, stride int64) error {
	return l.copy(s, dst, src, stride, func(p plane, r rows) error {
		return l.device.backend.copyIn(stream(s), p, unsafe.Pointer(unsafe.SliceData(src)), stride, r)
	})
}

func (l *launcher) CopyOut(s launch.Stream, dst []byte, stride int64, src launch.Rows) error {
	return l.copy(s, src, dst, stride, func(p plane, r rows) error {
		return l.device.backend.copyOut(stream(s), unsafe.Pointer(unsafe.SliceData(dst)), stride, p, r)
	})
}

func (l *launcher) copy(s launch.Stream, on launch.Rows, host []byte, stride int64, queue func(plane, rows) error) error {
	if on.Count <= 0 || on.Bytes <= 0 {
		return nil
	}
	if need := (on.Count-1)*stride + on.Bytes; int64(len(host)) < need {
		return fmt.Errorf("gpu: %w: a copy of %d bytes from or to %d", boxsum.ErrInvalid, need, len(host))
	}
	return l.device.use(func() error {
		p, r := plane{memory(on.Buffer), on.Offset, on.Stride}, rows{on.Bytes, on.Count}
		if l.isLocked(host) {
			return queue(p, r)
		}
		var pin runtime.Pinner
		defer pin.Unpin()
		pin.Pin(unsafe.SliceData(host))
		return firstError(queue(p, r), l.device.backend.wait(stream(s)))
	})
}

func (l *launcher) Launch(s launch.Stream, kernel string, groups, items int, args ...any) error {
	var values []arg
	for i, a := range args {
		switch a := a.(type) {
		case int32:
			values = append(values, value(&a))
		case int64:
			values = append(values, value(&a))
		case launch.Buffer:
			values = append(values, value(&a))
		default:
			return fmt.Errorf("gpu: argument %d of %s is a %T", i, kernel, a)
		}
	}
	return l.device.use(func() error {
		return l.device.backend.launch(stream(s), kernel, [3]int{groups, 1, 1}, [3]int{items, 1, 1}, 0, values...)
	})
}
