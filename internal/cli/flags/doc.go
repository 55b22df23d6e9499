// Package flags has the flags that several verbs share: devices, workers and instruction
// sets, windows, ranges and points.
package flags
