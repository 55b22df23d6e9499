// Package web is the folder of the explorer, the page of boxsum view: requests and answers in
// [github.com/boxsum/boxsum/web/explore], the page and its server in web/view.
//
// The packages in this folder are not part of the library. They may change at any time, and the
// promise of compatibility does not cover them.
package web
