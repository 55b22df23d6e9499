package raster

import (
	"slices"
	"strings"
)

// ParseName returns the index of a name in names. what says in the error what the names are of.
func ParseName[T ~uint8](what, name string, names []string) (T, error) {
	i := slices.Index(names, name)
	if i < 0 {
		return 0, Invalid("unknown %s %q, want one of %s", what, name, strings.Join(names, ", "))
	}
	return T(i), nil
}
