package kernels

import (
	"bytes"
	"fmt"
	"iter"
)

// CUDA is the images of a module, such as "portable" or "sums", for a device of
// this compute capability, the best first: machine code where there is some, and
// PTX, packed, which ends with a zero byte. Modules in two dialects are for devices of 7.5
// and up, those for CUDA only for 8.0 and up. There is none where there is no such
// module for the device. An image is decoded when it is its turn.
func CUDA(module string, major, minor int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for minor := minor; minor >= 0; minor-- { // code for 9.0 runs on 9.1, not on 10.0
			if image := read(fmt.Sprintf("%s.sm_%d%d.cubin.lzma", module, major, minor)); image != nil {
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
			if ptx := read(fmt.Sprintf("%s.compute_%d.ptx.lzma", module, capability)); ptx != nil {
				yield(append(ptx, 0))
				return
			}
		}
	}
}

// IsPTX reports whether an image is PTX and not machine code.
func IsPTX(image []byte) bool { return !bytes.HasPrefix(image, []byte("\x7fELF")) }

// OneKernel is PTX with only one of its kernels, unpacked: drivers compile all that
// they are given, and the whole takes them many seconds.
func OneKernel(ptx []byte, kernel string) []byte {
	var one []byte
	wanted := true // what is not part of a kernel is for all of them
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
	return unpack(one)
}

func read(name string) []byte {
	packed, err := built.ReadFile("built/" + name)
	if err != nil {
		return nil
	}
	image, err := unpackLZMA(packed)
	if err != nil {
		return nil
	}
	return image
}
