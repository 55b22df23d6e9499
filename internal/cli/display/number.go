package display

import (
	"fmt"
	"strconv"
	"time"
)

// Bytes formats a size with a decimal unit.
func Bytes(n int64) string {
	switch {
	case n >= 1e9:
		return Rounded(float64(n)/1e9) + " GB"
	case n >= 1e6:
		return Rounded(float64(n)/1e6) + " MB"
	case n >= 1e4:
		return Rounded(float64(n)/1e3) + " kB"
	}
	return fmt.Sprintf("%d bytes", n)
}

// Rounded formats a number with three significant digits and no exponent.
func Rounded(x float64) string {
	if near, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64); err == nil {
		x = near
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Duration formats a time in milliseconds with three significant digits, in ms, s or
// minutes.
func Duration(ms float64) string {
	switch {
	case ms < 1e3:
		return Rounded(ms) + " ms"
	case ms < 120e3:
		return Rounded(ms/1e3) + " s"
	}
	return time.Duration(ms * 1e6).Round(time.Second).String()
}

// Count formats a count with its noun: "1 pixel", "2 pixels".
func Count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
