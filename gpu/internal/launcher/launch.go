// Package launcher lets other packages of the module launch kernels on a device, and measure its
// limits.
package launcher

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/internal/launch"
	"github.com/boxsum/boxsum/internal/raster"
)

// New returns an open device as a launch.Device.
func New(d *devmem.Device) launch.Device {
	return &launcher{device: d, locked: map[*byte]driver.HostMemory{}}
}

// A launcher implements launch.Device.
type launcher struct {
	device *devmem.Device

	mu     sync.Mutex
	locked map[*byte]driver.HostMemory // by address
}

func (l *launcher) Main() launch.Stream { return launch.Stream(l.device.Stream) }

func (l *launcher) NewStream() (s launch.Stream, err error) {
	err = l.device.Use(func() error {
		made, err := l.device.NewStream()
		s = launch.Stream(made)
		return err
	})
	return s, err
}

func (l *launcher) FreeStream(s launch.Stream) error {
	return devmem.IgnoreClosed(l.device.Use(func() error { return l.device.CloseStream(driver.Stream(s)) }))
}

func (l *launcher) Join(later, earlier launch.Stream) error {
	b := l.device.Backend
	return l.device.Use(func() error {
		e, err := b.Record(driver.Stream(earlier))
		if err != nil {
			return err
		}
		return driver.FirstError(b.WaitFor(driver.Stream(later), e), b.FreeEvent(e))
	})
}

func (l *launcher) Wait(s launch.Stream) error {
	return l.device.Use(func() error { return l.device.Backend.Wait(driver.Stream(s)) })
}

func (l *launcher) Alloc(bytes int64) (m launch.Buffer, err error) {
	d := l.device
	err = d.Use(func() error {
		taken, err := d.NewBuffer(bytes)
		if err != nil {
			return err
		}
		m = launch.Buffer(taken)
		err = d.Backend.Fill(d.Stream, driver.Plane{Memory: taken}, 0, bytes)
		if err == nil {
			err = d.Backend.Wait(d.Stream) // other streams may use it first
		}
		if err != nil {
			return driver.FirstError(err, d.FreeBuffer(taken))
		}
		return nil
	})
	return m, err
}

func (l *launcher) Free(m launch.Buffer) error {
	d := l.device
	return devmem.IgnoreClosed(d.Use(func() error { return driver.FirstError(d.Backend.Wait(d.Stream), d.FreeBuffer(driver.Memory(m))) }))
}

func (l *launcher) AllocHost(bytes int64) ([]byte, error) {
	if err := l.device.Retain(); err != nil {
		return nil, err
	}
	m, err := l.device.AllocateHost(max(bytes, 1))
	if err != nil {
		return nil, driver.FirstError(err, l.device.Release())
	}
	host := unsafe.Slice((*byte)(m.At), max(bytes, 1))
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
	return driver.FirstError(l.device.Backend.FreeHost(m), l.device.Release())
}

// isLocked reports whether a slice lies in page-locked memory.
func (l *launcher) isLocked(host []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(host)))
	for _, m := range l.locked {
		if first := uintptr(m.At); at >= first && at < first+uintptr(m.Bytes) {
			return true
		}
	}
	return false
}

func (l *launcher) CopyIn(s launch.Stream, dst launch.Rows, src []byte, stride int64) error {
	return l.copy(s, dst, src, stride, func(p driver.Plane, r driver.Rows) error {
		return l.device.Backend.CopyIn(driver.Stream(s), p, unsafe.Pointer(unsafe.SliceData(src)), stride, r)
	})
}

func (l *launcher) CopyOut(s launch.Stream, dst []byte, stride int64, src launch.Rows) error {
	return l.copy(s, src, dst, stride, func(p driver.Plane, r driver.Rows) error {
		return l.device.Backend.CopyOut(driver.Stream(s), unsafe.Pointer(unsafe.SliceData(dst)), stride, p, r)
	})
}

func (l *launcher) copy(s launch.Stream, on launch.Rows, host []byte, stride int64, queue func(driver.Plane, driver.Rows) error) error {
	if on.Count <= 0 || on.Bytes <= 0 {
		return nil
	}
	if need := (on.Count-1)*stride + on.Bytes; int64(len(host)) < need {
		return raster.Invalid("buffer has %d bytes, want at least %d", len(host), need)
	}
	return l.device.Use(func() error {
		p, r := driver.Plane{Memory: driver.Memory(on.Buffer), Offset: on.Offset, Stride: on.Stride}, driver.Rows{Bytes: on.Bytes, Count: on.Count}
		if l.isLocked(host) {
			return queue(p, r)
		}
		var pin runtime.Pinner
		defer pin.Unpin()
		pin.Pin(unsafe.SliceData(host))
		return driver.FirstError(queue(p, r), l.device.Backend.Wait(driver.Stream(s)))
	})
}

func (l *launcher) Launch(s launch.Stream, kernel string, groups, items int, args ...any) error {
	var values []driver.Arg
	for i, a := range args {
		switch a := a.(type) {
		case int32:
			values = append(values, driver.Value(&a))
		case int64:
			values = append(values, driver.Value(&a))
		case launch.Buffer:
			values = append(values, driver.Value(&a))
		default:
			return fmt.Errorf("argument %d of kernel %s is a %T, want an int32, an int64 or a buffer", i, kernel, a)
		}
	}
	return l.device.Use(func() error {
		return l.device.Backend.Launch(driver.Stream(s), kernel, groups, items, values...)
	})
}
