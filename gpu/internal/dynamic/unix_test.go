//go:build !nogpu && (darwin || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package dynamic

import (
	"strings"
	"sync"
	"testing"
)

// The reason is kept by thread: a goroutine that moves between the call and the question would find none.
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
