package main

import (
	"fmt"
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// constants holds the read-only data of a file's kernels by name. Each is emitted when a kernel
// first asks for it.
type constants map[string]Mem

func (c constants) mem(name string, words ...uint64) Mem {
	if _, ok := c[name]; !ok {
		c[name] = GLOBL(name, RODATA|NOPTR)
		for i, w := range words {
			DATA(8*i, U64(w))
		}
	}
	return c[name]
}

// triangle returns the weights of the dot product for bytes 4g to 4g+3 of a vector: 1 in the lanes
// that are not left of the byte, else 0.
func (c constants) triangle(lanes, g int) Mem {
	words := make([]uint64, lanes/2)
	for lane := range lanes {
		for b := range 4 {
			if 4*g+b <= lane {
				words[lane/2] |= 1 << (32*(lane%2) + 8*b)
			}
		}
	}
	return c.mem(fmt.Sprintf("triangle%d_%d", lanes, g), words...)
}

// ones returns sixteen 16-bit words of 1.
func (c constants) ones() Mem {
	return c.mem("ones", slices.Repeat([]uint64{0x0001_0001_0001_0001}, 4)...)
}

// tailMasks returns eight lanes of all ones followed by eight of zero.
func (c constants) tailMasks() Mem {
	return c.mem("tailMasks", append(slices.Repeat([]uint64{math.MaxUint64}, 4), 0, 0, 0, 0)...)
}

// slide returns shuffle indices: read n bytes further on, they shift a vector right by n bytes.
func (c constants) slide() Mem {
	const none = 0x8080_8080_8080_8080
	return c.mem("slide", 0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, none, none)
}

// bias returns 2^52 in every lane.
func (c constants) bias() Mem {
	return c.mem("bias", slices.Repeat([]uint64{math.Float64bits(1 << 52)}, 4)...)
}
