// Package stores has the verbs for Zarr arrays and for tables in them: info, convert and
// verify.
package stores
