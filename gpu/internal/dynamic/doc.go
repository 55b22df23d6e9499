// Package dynamic opens libraries at run time and calls their functions, without cgo. On Unix
// that makes a program dynamic: it needs the system's C library. With the build tag nogpu
// there are no libraries, and programs are static.
package dynamic
