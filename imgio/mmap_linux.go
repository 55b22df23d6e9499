package imgio

import "golang.org/x/sys/unix"

// mapNoReserve allows mapping files larger than memory: without it the kernel
// would reserve memory for writing to all their pages.
const mapNoReserve = unix.MAP_NORESERVE
