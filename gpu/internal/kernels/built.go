//go:build !nogpu

package kernels

import "embed"

//go:embed built
var built embed.FS
