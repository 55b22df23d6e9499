//go:build nogpu

package launch

// GPU reports whether this program was built for devices. Where it was not, what only they run is left out of it.
const GPU = false
