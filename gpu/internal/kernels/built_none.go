//go:build nogpu || nocuda

package kernels

import "embed"

// built has nothing: no driver is there to run it.
var built embed.FS
