package kernels

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// CUDA returns the images of a module, such as "portable" or "sums", for a device with the given
// compute capability, best first: machine code if there is any, then PTX, which ends with a zero
// byte. Modules with OpenCL kernels run on devices from 7.5 on, CUDA-only ones from 8.0 on; the
// sequence is empty for an older device or an unknown module. Images are decompressed as the
// sequence reaches them.
func CUDA(module string, major, minor int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for minor := minor; minor >= 0; minor-- { // code for 9.0 runs on 9.1, but not on 10.0
			if image := read(fmt.Sprintf("%s.sm_%d%d.cubin.zst", module, major, minor)); image != nil {
				if !yield(image) {
					return
				}
				break
			}
		}
		for _, capability := range []int{80, 75} {
			if capability > 10*major+minor {
				continue
			}
			if ptx := read(fmt.Sprintf("%s.compute_%d.ptx.zst", module, capability)); ptx != nil {
				yield(append(ptx, 0))
				return
			}
		}
	}
}

// IsPTX reports whether an image is PTX rather than machine code.
func IsPTX(image []byte) bool { return !bytes.HasPrefix(image, []byte("\x7fELF")) }

// OneKernel returns PTX with all but one of its kernels removed: drivers compile everything that
// they are given, which takes many seconds for a whole module.
func OneKernel(ptx []byte, kernel string) []byte {
	var one []byte
	wanted := true // lines outside of kernels belong to all kernels
	depth := 0     // of braces; kernels contain blocks
	for line := range bytes.Lines(ptx) {
		if at := bytes.Index(line, []byte(".entry ")); at >= 0 {
			wanted = bytes.HasPrefix(line[at+len(".entry "):], []byte(kernel+"("))
		}
		if wanted {
			one = append(one, line...)
		}
		closed := bytes.Count(line, []byte("}"))
		depth += bytes.Count(line, []byte("{")) - closed
		if closed > 0 && depth == 0 {
			wanted = true
		}
	}
	return one
}

// read decompresses a file of the directory built, or returns nil if there is none.
func read(name string) []byte {
	packed, err := built.ReadFile("built/" + name)
	if err != nil {
		return nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil
	}
	defer decoder.Close()
	image, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil
	}
	return image
}
