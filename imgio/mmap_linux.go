package imgio

import "golang.org/x/sys/unix"

// mapNoReserve lets files be mapped that are larger than the memory: without it
// the system would have to be ready for all their pages to be written to.
const mapNoReserve = unix.MAP_NORESERVE
