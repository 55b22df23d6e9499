package matching

import (
	"fmt"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Method is a way to score a position; see package match.
type Method uint8

// The methods.
const (
	ZNCC Method = iota
	NCC
	SSD
	methods
)

var methodNames = [methods]string{"zncc", "ncc", "ssd"}

// String returns the method's name in lower case.
func (m Method) String() string {
	if m < methods {
		return methodNames[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// ParseMethod returns the method with the given name.
func ParseMethod(name string) (Method, error) {
	return raster.ParseName[Method]("method", name, methodNames[:])
}

// Check returns an error if m is not one of the methods.
func (m Method) Check() error {
	if m >= methods {
		return raster.Invalid("unknown %v, want one of %s", m, strings.Join(methodNames[:], ", "))
	}
	return nil
}
