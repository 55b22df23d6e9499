package driver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/opencl"
	"github.com/boxsum/boxsum/internal/raster"
)

// programs holds the programs and kernels built for one device.
type programs struct {
	built   map[string]opencl.Program // by source and options
	kernels map[kernelKey]opencl.Kernel
	groups  map[groupKey]int // results of LargestGroup
}

type kernelKey struct {
	name  string
	group int // work-group size
}

// A groupKey is a set of kernels that share a work-group size, and the largest size that they
// support.
type groupKey struct {
	names string
	most  int
}

func newPrograms() programs {
	return programs{map[string]opencl.Program{}, map[kernelKey]opencl.Kernel{}, map[groupKey]int{}}
}

func (p *programs) release(driver *opencl.Driver) error {
	var errs []error
	for _, k := range p.kernels {
		errs = append(errs, driver.ReleaseKernel(k))
	}
	for _, built := range p.built {
		errs = append(errs, driver.ReleaseProgram(built))
	}
	*p = newPrograms()
	return errors.Join(errs...)
}

// LargestGroup returns the largest work-group size that these kernels support on this device: most,
// or a fraction of it.
func (b *OpenCLBackend) LargestGroup(names []string, most int) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := groupKey{strings.Join(names, " "), most}
	if group, ok := b.programs.groups[key]; ok {
		return group, nil
	}
	group, allowed := most, b.maxGroup
	for group > max(allowed, 0) {
		group /= 2
	}
	for ; group >= SmallestGroup; group /= 2 {
		fits := true
		for _, name := range names {
			k, err := b.kernel(name, group)
			if err != nil {
				return 0, err
			}
			limit, err := b.driver.WorkGroupLimit(k, b.device)
			if err != nil {
				return 0, openCLError("describe "+name, err)
			}
			fits = fits && limit >= group
			allowed = min(allowed, limit)
		}
		if fits {
			b.programs.groups[key] = group
			return group, nil
		}
	}
	return 0, fmt.Errorf("%w: %s runs %s in work-groups of at most %d work-items, but it needs %d", ErrNoDevice, b.about.Name, strings.Join(names, " and "), allowed, SmallestGroup)
}

// kernel returns a kernel for work-groups of the given size. The caller holds b.mu.
func (b *OpenCLBackend) kernel(name string, group int) (opencl.Kernel, error) {
	key := kernelKey{name, group}
	if k, ok := b.programs.kernels[key]; ok {
		return k, nil
	}
	source, options, err := kernels.OpenCL(name, group)
	if err != nil {
		return 0, deviceError("OpenCL: %w", err)
	}
	if !b.float64 && kernels.NeedsFloat64(name) {
		return 0, raster.Unsupported("%s has no 64-bit floats (use other types or another device)", b.about.Name)
	}
	p, ok := b.programs.built[source+options]
	if !ok {
		if p, err = b.program(source, options); err != nil {
			return 0, err
		}
		b.programs.built[source+options] = p
	}
	k, err := b.driver.CreateKernel(p, name)
	if err != nil {
		return 0, openCLError("find kernel "+name, err)
	}
	b.programs.kernels[key] = k
	return k, nil
}

// program builds a program, or loads it from the user's cache if an earlier process built the same
// source for the same device and driver.
func (b *OpenCLBackend) program(source, options string) (opencl.Program, error) {
	file := b.cacheFile(source, options)
	if binary := readCache(file); binary != nil {
		if p, err := b.driver.ProgramFromBinary(b.context, b.device, binary); err == nil {
			if _, err := b.driver.Build(p, b.device, options); err == nil {
				return p, nil
			}
			b.driver.ReleaseProgram(p)
		}
	}
	p, err := b.driver.ProgramFromSource(b.context, source)
	if err != nil {
		return 0, openCLError("create a program", err)
	}
	if log, err := b.driver.Build(p, b.device, options); err != nil {
		b.driver.ReleaseProgram(p)
		return 0, openCLError("build kernels for "+b.about.Name, buildError(err, log))
	}
	if binary, err := b.driver.Binary(p); err == nil && len(binary) > 0 {
		writeCache(file, binary)
	}
	return p, nil
}

// buildError adds the compiler's log, if any, to the error of a build.
func buildError(err error, log string) error {
	if log == "" {
		return err
	}
	return OneLine{fmt.Errorf("%w: %s", err, log)}
}

// cacheVariable is the environment variable that sets the directory of the program cache, or
// disables it with "off".
const cacheVariable = "BOXSUM_OPENCL_CACHE"

// cacheFile returns the path of a cached program, or "" if programs are not cached.
func (b *OpenCLBackend) cacheFile(source, options string) string {
	folder := os.Getenv(cacheVariable)
	if folder == "off" {
		return ""
	}
	if folder == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		folder = filepath.Join(user, "boxsum", "opencl")
	}
	h := sha256.New()
	for _, part := range []string{b.about.Name, b.about.Vendor, b.about.Driver, b.about.Version, options, source} {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	return filepath.Join(folder, hex.EncodeToString(h.Sum(nil)[:16])+".bin")
}

// readCache reads a cached program, or returns nil. It verifies a checksum, because drivers may
// crash on damaged programs.
func readCache(file string) []byte {
	if file == "" {
		return nil
	}
	content, err := os.ReadFile(file)
	if err != nil || len(content) < sha256.Size {
		return nil
	}
	sum, binary := content[:sha256.Size], content[sha256.Size:]
	if want := sha256.Sum256(binary); !bytes.Equal(sum, want[:]) {
		return nil
	}
	return binary
}

// writeCache stores a program if it can. The file is written atomically.
func writeCache(file string, binary []byte) {
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), "*.tmp")
	if err != nil {
		return
	}
	sum := sha256.Sum256(binary)
	_, err = f.Write(append(sum[:], binary...))
	if errors.Join(err, f.Close()) != nil || os.Rename(f.Name(), file) != nil {
		os.Remove(f.Name())
	}
}
