// Package explore is the engine of the page of boxsum view: it opens pictures, volumes, stores and
// reports, and answers the page's requests.
//
// Its entry point is [Session.Do], which takes a request as JSON with optional bytes, and returns a
// reply of the same form. The server of package view calls it, and so does the program
// web/explore/wasm in a browser. The page works the same way with both.
//
// To keep that program small, pixels are converted to one of four types: uint8, uint16, float32 or
// float64. Each has one type of sums, with the library's guarantees of exactness.
package explore
