// Package stores has the verbs for files and Zarr stores, and for tables in them: info, convert and
// verify.
package stores
