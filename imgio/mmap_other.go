//go:build !unix

package imgio

import (
	"errors"
	"os"
)

// mapFile makes the caller read the file instead.
func mapFile(*os.File, int) (data []byte, unmap func() error, err error) {
	return nil, nil, errors.ErrUnsupported
}
