// Package windows has the verbs that look at the window around every pixel, and those that
// compare images: blur, local, threshold, match and compare.
package windows
