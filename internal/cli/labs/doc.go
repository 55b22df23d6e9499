// Package labs has the verbs that measure: bench, reproduce, and devices, which lists what
// they can run on.
package labs
