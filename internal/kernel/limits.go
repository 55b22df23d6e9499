package kernel

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
