//go:build nogpu || nocuda || !(darwin || windows || (freebsd && cgo) || netbsd || (linux && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)))

package kernels

import "embed"

// built is empty: no driver can run the modules.
var built embed.FS
