//go:build js

// Command wasm runs package explore in a page without a server: it provides the JavaScript function boxsumDo, which takes
// a request with its bytes and returns the reply.
package main

import (
	"context"
	"encoding/binary"
	"syscall/js"

	"github.com/boxsum/boxsum/web/explore"
)

// limits are chosen for 32-bit memory.
var limits = explore.Limits{Bytes: 3 << 29, Body: 512 << 20, Request: 1 << 20, Documents: 64, Boxes: 10000}

func main() {
	session := explore.NewSession(&explore.Library{Documents: []explore.Document{explore.Demo()}}, limits)
	js.Global().Set("boxsumDo", js.FuncOf(func(_ js.Value, args []js.Value) any {
		data := make([]byte, args[0].Length())
		js.CopyBytesToGo(data, args[0])
		var reply []byte
		if n := int64(binary.LittleEndian.Uint32(data)); n <= int64(len(data))-4 {
			reply = session.Do(context.Background(), data[4:4+n], data[4+n:])
		}
		out := js.Global().Get("Uint8Array").New(len(reply))
		js.CopyBytesToJS(out, reply)
		return out
	}))
	select {}
}
