//go:build unix && !linux

package imgio

// mapNoReserve is for systems that count pages before they are written to.
const mapNoReserve = 0
