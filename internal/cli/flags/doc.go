// Package flags defines flags that several commands share: devices, workers, instruction sets,
// windows, ranges and points.
package flags
