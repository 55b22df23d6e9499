// Package explore is the engine behind the page of boxsum view: it opens pictures, volumes, stores and
// reports, and answers what the page asks of them.
//
// There is one way in, [Session.Do]: a request as JSON with bytes beside it, and a reply of the same form. The
// server of package view calls it, and so does the program of web/explore/wasm in a browser, so that the page
// cannot tell them apart.
//
// To keep that program small, pixels become one of four types: uint8, uint16, float32 or float64. Each has one
// type of sums, in which boxes are exact as far as the library has them so.
package explore
