//go:build nogpu

package launch

// GPU reports whether this program was built with support for devices. Without it, code that only they need is not linked.
const GPU = false
