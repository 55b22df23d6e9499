// Package stores implements the commands info, convert and verify, for image files, Zarr arrays and
// stored tables.
package stores
