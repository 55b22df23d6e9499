//go:build !nogpu && !nocuda

package kernels

import "embed"

//go:embed built
var built embed.FS
