package boxsum_test

import (
	"reflect"
	"testing"

	"github.com/boxsum/boxsum"
)

// No method of a nil or of a zero table panics, whatever zero arguments it gets.
func TestNil(t *testing.T) {
	for _, v := range []any{
		(*boxsum.Table[uint32])(nil), new(boxsum.Table[uint32]), boxsum.View[uint32]{},
		(*boxsum.SquaredTable[uint32, uint64])(nil), new(boxsum.SquaredTable[uint32, uint64]),
		(*boxsum.ValidTable[uint32, uint64])(nil), new(boxsum.ValidTable[uint32, uint64]),
	} {
		value := reflect.ValueOf(v)
		for i := range value.NumMethod() {
			name := value.Type().Method(i).Name
			var args []reflect.Value
			for arg := range value.Method(i).Type().Ins() {
				args = append(args, reflect.New(arg).Elem())
			}
			t.Run(value.Type().String()+"."+name, func(*testing.T) { value.Method(i).Call(args) })
		}
	}
}
