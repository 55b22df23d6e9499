package kernel

// StreamFillRead writes every byte of dst once, past the caches, and reads
// every byte of src once, both at the same pace: the least that making a table
// of those bytes can take.
func StreamFillRead(dst, src []byte) {
	const chunk = 16 << 10
	chunks := max(1, (len(dst)+chunk-1)/chunk)
	for i := range chunks {
		streamRead(src[len(src)*i/chunks : len(src)*(i+1)/chunks])
		StreamFill(dst[len(dst)*i/chunks : len(dst)*(i+1)/chunks])
	}
}

func fillBytes(dst []byte) {
	for i := range dst {
		dst[i] = 0xff
	}
}

// readBytes is not inlined, lest the compiler see that nobody wants the result.
//
//go:noinline
func readBytes(src []byte) (all byte) {
	for _, b := range src {
		all |= b
	}
	return all
}
