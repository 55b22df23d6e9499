package kernels

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// CUDA returns the images of a module, such as "portable" or "sums", for a device of
// this compute capability, the best first: machine code where there is some, then PTX,
// which ends with a zero byte. Modules with OpenCL kernels run on devices of 7.5 and up,
// those for CUDA alone on 8.0 and up; the sequence is empty for an older device or an
// unknown module. Each image is decompressed when the sequence reaches it.
func CUDA(module string, major, minor int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for minor := minor; minor >= 0; minor-- { // code for 9.0 runs on 9.1, not on 10.0
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

// IsPTX reports whether an image is PTX and not machine code.
func IsPTX(image []byte) bool { return !bytes.HasPrefix(image, []byte("\x7fELF")) }

// OneKernel returns PTX with all but one of its kernels removed: drivers compile all
// that they are given, and a whole module takes them many seconds.
func OneKernel(ptx []byte, kernel string) []byte {
	var one []byte
	wanted := true // lines outside of kernels are for all of them
	depth := 0     // of braces; kernels have blocks inside
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

// read decompresses a file of the folder built, or returns nil if there is none.
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
