package method

import (
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// An upload is data to copy to a workspace of a device.
type upload struct {
	to   *driver.Memory // set to the workspace
	name string         // of the workspace
	data []byte
}

// send copies data to workspaces, which are kept from call to call, and waits.
func (job *Job) send(all ...upload) (err error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, u := range all {
		n := int64(len(u.data))
		if *u.to, _, err = job.Device.Workspace(job.Stream, u.name, n); err != nil {
			break
		}
		pin.Pin(&u.data[0])
		if err = job.Device.Backend.CopyIn(job.Stream, driver.Plane{Memory: *u.to, Stride: n}, unsafe.Pointer(&u.data[0]), n, driver.Rows{Bytes: n, Count: 1}); err != nil {
			break
		}
	}
	// Wait even after an error: nothing may use this memory once it is unpinned.
	return driver.FirstError(err, job.Device.Backend.Wait(job.Stream))
}

// raw returns the bytes of a non-empty slice.
func raw[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}
