//go:build !nogpu && !nocuda && (darwin || windows || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package kernels

import "embed"

//go:embed built/*.zst
var built embed.FS
