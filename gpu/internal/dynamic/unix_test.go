//go:build !nogpu && (darwin || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package dynamic

import (
	"strings"
	"sync"
	"testing"
)

// TestReasons opens missing libraries concurrently. The reason of a failure is stored per thread,
// so a goroutine that moved between the two calls would not find it.
func TestReasons(t *testing.T) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 2000 {
				_, err := Open("libboxsum-none.so", false)
				if err == nil || !strings.Contains(err.Error(), "libboxsum-none.so") {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	group.Wait()
}
