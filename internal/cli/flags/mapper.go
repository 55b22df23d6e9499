package flags

import (
	"errors"
	"reflect"

	"github.com/alecthomas/kong"
)

// Reader has kong read flags of type F by parse. Their text may start with a minus.
func Reader[F, T any](form string, parse func(string) (T, error), set func(*F, T)) kong.Option {
	return kong.TypeMapper(reflect.TypeFor[F](), kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		token := ctx.Scan.Pop()
		if token.IsEOL() {
			return errors.New("expected " + form)
		}
		value, err := parse(token.String())
		if err == nil {
			set(target.Addr().Interface().(*F), value)
		}
		return err
	}))
}

// One reads flags with one value.
func One[T any](form string, parse func(string) (T, error)) kong.Option {
	return Reader(form, parse, func(to *T, value T) { *to = value })
}

// List reads flags that may be given again.
func List[L ~[]T, T any](form string, parse func(string) (T, error)) kong.Option {
	return Reader(form, parse, func(to *L, value T) { *to = append(*to, value) })
}

// Mappers are the types of flags here that kong does not know.
var Mappers = []kong.Option{
	One("LOW,HIGH", ParseRange),
	One("a size such as 31x15", parseWindow),
	One("X,Y", parsePoint),
	List[Points]("X,Y", parsePoint),
}
