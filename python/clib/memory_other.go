//go:build cgo && !unix

package main

func addressable(float64) bool { return true }
