package sources

import (
	"os"
	"slices"
	"sync"
)

// A spill is a large picture of a mosaic, decoded into a temporary file: blocks are read
// row by row, and a row of blocks may cross more pictures than fit in memory. All spills
// together use at most spillLimit bytes of disk; the most recently read ones stay.
type spill struct {
	lock   sync.Mutex
	decode func() ([]byte, error)
	file   *os.File // may be nil
	size   int64
}

var (
	// spillFrom is the minimum size in bytes of a picture that is spilled.
	spillFrom  int64 = 16 << 20
	spillLimit int64 = 8 << 30

	spills struct {
		sync.Mutex
		list  []*spill // in the order of their last reads
		bytes int64
	}
)

// read reads bytes of the picture, starting at at.
func (s *spill) read(dst []byte, at int64) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.file != nil {
		spills.Lock()
		spills.list = append(slices.DeleteFunc(spills.list, func(o *spill) bool { return o == s }), s)
		spills.Unlock()
		if _, err := s.file.ReadAt(dst, at); err == nil {
			return nil
		}
		s.drop() // the picture is decoded again
	}
	data, err := s.decode()
	if err != nil {
		return err
	}
	copy(dst, data[at:])
	s.keep(data)
	return nil
}

// keep writes the picture to a file if there is room.
func (s *spill) keep(data []byte) {
	spills.Lock()
	for n := 0; n < len(spills.list) && spills.bytes+int64(len(data)) > spillLimit; {
		if old := spills.list[n]; old.lock.TryLock() {
			old.forget()
			old.lock.Unlock()
		} else {
			n++ // old is being read
		}
	}
	fits := spills.bytes+int64(len(data)) <= spillLimit
	if fits {
		s.size = int64(len(data))
		spills.bytes += s.size
		spills.list = append(spills.list, s)
	}
	spills.Unlock()
	if !fits {
		return
	}
	file, err := os.CreateTemp(spillFolder(), "boxsum-")
	if err == nil {
		s.file = file
		os.Remove(file.Name()) // where open files can be removed, nothing remains of a process that is killed
		_, err = file.Write(data)
	}
	if err != nil {
		s.drop()
	}
}

// spillFolder returns a folder for files that are too large for memory: the default
// temporary folder may be in memory.
func spillFolder() string {
	if os.Getenv("TMPDIR") == "" {
		if info, err := os.Stat("/var/tmp"); err == nil && info.IsDir() {
			return "/var/tmp"
		}
	}
	return os.TempDir()
}

// drop removes the file. The caller must hold the spill's lock.
func (s *spill) drop() {
	spills.Lock()
	defer spills.Unlock()
	s.forget()
}

// forget is like drop. The caller must also hold the list's lock.
func (s *spill) forget() {
	spills.list = slices.DeleteFunc(spills.list, func(o *spill) bool { return o == s })
	spills.bytes -= s.size
	s.size = 0
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
}

func (s *spill) close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.drop()
	return nil
}
