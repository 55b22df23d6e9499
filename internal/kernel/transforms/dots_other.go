//go:build !amd64 || noasm

package transforms

import "github.com/boxsum/boxsum/internal/kernel/processor"

func bytesInLanes(processor.Level) bool { return false }
