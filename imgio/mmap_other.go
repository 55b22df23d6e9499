//go:build !unix

package imgio

import (
	"errors"
	"os"
)

// mapFile returns nothing, so that the caller reads the file instead.
func mapFile(*os.File, int) (data []byte, unmap func() error, err error) {
	return nil, nil, errors.ErrUnsupported
}
