//go:build unix && !linux

package imgio

// mapNoReserve is zero: only systems that count pages before they are written
// to need a flag.
const mapNoReserve = 0
