package imgio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// WriteFile writes the named file by calling write. It replaces the file
// atomically: the data goes to a temporary file in the same folder, which is
// then renamed. If there is an error or a panic, the old file is unchanged. An
// existing file keeps its permissions, and a symbolic link keeps pointing to
// the same file. Devices and pipes are written to directly.
func WriteFile(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder, want a file in it", path)
	case !info.Mode().IsRegular():
		return writeDevice(path, write)
	}
	f, err := createBeside(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, cause(err))
	}
	defer os.Remove(f.Name()) // gone already on success
	defer f.Close()
	if info != nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		if err := write(unnamed{f}); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, cause(err))
	}
	return nil
}

// unnamed hides the name of a file from errors: users do not know about the
// temporary file.
type unnamed struct{ io.Writer }

func (u unnamed) Write(b []byte) (int, error) {
	n, err := u.Writer.Write(b)
	return n, cause(err)
}

// cause returns the underlying error, without file names.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// createBeside creates a new file in the folder of path. Unlike os.CreateTemp,
// it leaves the permissions to the umask, as for any other output.
func createBeside(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	base = strings.ToValidUTF8(base[:min(len(base), 100)], "") // names have limits, in bytes
	for try := 0; ; try++ {
		name := fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}

func writeDevice(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(write(unnamed{f}), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
