// Package web is the folder of the explorer, the page that boxsum view opens.
// Package [github.com/boxsum/boxsum/web/explore] handles requests, and web/view
// contains the page and its server.
//
// The packages in this folder are not part of the library. They may change at
// any time, and the promise of compatibility does not cover them.
package web
