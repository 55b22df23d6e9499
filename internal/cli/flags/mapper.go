package flags

import (
	"errors"
	"reflect"

	"github.com/alecthomas/kong"
)

// Reader returns a kong mapper that reads flags of type F with parse. Their values may
// start with a minus.
func Reader[F, T any](form string, parse func(string) (T, error), set func(*F, T)) kong.Option {
	return kong.TypeMapper(reflect.TypeFor[F](), kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		token := ctx.Scan.Pop()
		if token.IsEOL() {
			return errors.New("missing value, want " + form)
		}
		value, err := parse(token.String())
		if err == nil {
			set(target.Addr().Interface().(*F), value)
		}
		return err
	}))
}

// One returns a mapper for flags with one value.
func One[T any](form string, parse func(string) (T, error)) kong.Option {
	return Reader(form, parse, func(to *T, value T) { *to = value })
}

// List returns a mapper for flags that may be repeated.
func List[L ~[]T, T any](form string, parse func(string) (T, error)) kong.Option {
	return Reader(form, parse, func(to *L, value T) { *to = append(*to, value) })
}

// Mappers are the kong mappers of the types in this package.
var Mappers = []kong.Option{
	One("LOW,HIGH", ParseRange),
	One("a size such as 31x15", parseWindow),
	One("X,Y", parsePoint),
	List[Points]("X,Y", parsePoint),
}
