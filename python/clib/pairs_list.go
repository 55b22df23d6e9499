// Code generated from the list of package pairs. DO NOT EDIT.

//go:build cgo

package main

var allPairs = []*pair{
	newPair[uint32, uint8](),
	newPair[uint64, uint8](),
	newPair[float32, uint8](),
	newPair[float64, uint8](),
	newPair[int64, uint8](),
	newPair[uint64, uint16](),
	newPair[float64, uint16](),
	newPair[uint32, uint16](),
	newPair[uint64, uint32](),
	newPair[uint32, uint32](),
	newPair[int64, int16](),
	newPair[float64, int16](),
	newPair[int64, int32](),
	newPair[float64, float32](),
	newPair[float32, float32](),
	newPair[float64, float64](),
}
