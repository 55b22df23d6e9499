// Package windows implements the commands that compute a value from the window around every pixel,
// blur, local, threshold and match, and compare, which scores results.
package windows
