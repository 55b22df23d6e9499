package engine

import "syscall"

// yieldThread yields this processor to threads of any program.
func yieldThread() { syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
