// Package labs implements the commands that measure, bench and reproduce, and devices, which lists
// the available devices.
package labs
