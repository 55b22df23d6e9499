package ref

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/boxsum/boxsum/internal/raster"
)

// Fill fills elems with random values: integers over their whole range, so that sums wrap, and floats in
// [low, high).
func Fill[T raster.Number](rng *rand.Rand, elems []T, low, high float64) {
	for i := range elems {
		switch p := any(&elems[i]).(type) {
		case *float32:
			*p = rng.Float32()*float32(high-low) + float32(low)
		case *float64:
			*p = rng.Float64()*(high-low) + low
		default:
			elems[i] = T(rng.Uint64())
		}
	}
}

// Same reports whether a and b are the same value. It distinguishes -0 from 0, but treats all NaNs as the same.
func Same[T raster.Number](a, b T) bool {
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
}

// NoPanics calls every exported method of the values with zero arguments. It is for nil pointers and zero
// values, none of whose methods may panic.
func NoPanics(t *testing.T, values ...any) {
	t.Helper()
	for _, v := range values {
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
