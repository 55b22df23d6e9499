//go:build unix

package imgio

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/boxsum/boxsum/internal/raster"
)

// mapFile maps the first n bytes of a file. The mapping is private: it can be
// written to, which does not change the file.
func mapFile(f *os.File, n int) (data []byte, unmap func() error, err error) {
	if err := raster.CheckMap(float64(n)); err != nil {
		return nil, nil, err
	}
	data, err = unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|mapNoReserve)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error {
		if data == nil {
			return nil
		}
		d := data
		data = nil
		return unix.Munmap(d)
	}, nil
}
