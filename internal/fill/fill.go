// Package fill executes templates of package text/template's syntax. What that package finds by name, the methods of any
// value, must be named here: a program that looks for methods by name keeps every method of every type, and the command
// would be an eighth larger.
package fill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Funcs are functions by their names in templates, or methods as functions of their receiver; several methods
// of a name are a list. They return a value, and maybe an error.
type Funcs map[string]any

// A Set is templates by their names.
type Set struct {
	trees          map[string][]any
	funcs, methods Funcs
	escape         func(string) string
}

// Raw is text that is written as it is where others are escaped.
type Raw string

// New is the templates of a text, where the first of them is "", and what they may call. Escape is for what values print, and may be nil.
func New(text string, funcs, methods Funcs, escape func(string) string) (*Set, error) {
	all := maps.Clone(builtin)
	maps.Copy(all, funcs)
	s := &Set{map[string][]any{}, all, methods, escape}
	return s, s.add(text)
}

// FromFiles is New with the text of several files.
func FromFiles(files fs.FS, pattern string, funcs, methods Funcs) (*Set, error) {
	s, err := New("", funcs, methods, nil)
	names, globErr := fs.Glob(files, pattern)
	for _, name := range names {
		var text []byte
		if text, err = fs.ReadFile(files, name); err == nil {
			err = s.add(string(text))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return s, errors.Join(err, globErr)
}

func (s *Set) add(text string) error {
	return parse(text, s.trees, s.funcs)
}

// Must is a set that cannot fail, since its text is part of the program.
func Must(s *Set, err error) *Set {
	if err != nil {
		panic(err)
	}
	return s
}

// Execute writes a template about data.
func (s *Set) Execute(w io.Writer, name string, data any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("template %q: %w", name, f.error)
		}
	}()
	(&state{set: s, w: w}).template(name, reflect.ValueOf(data))
	return nil
}

// A failure ends the execution.
type failure struct{ error }

func fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// A state is how far a template is: its variables, the newest last.
type state struct {
	set  *Set
	w    io.Writer
	vars []variable
}

type variable struct {
	name  string
	value reflect.Value
}

func (s *state) template(name string, dot reflect.Value) {
	list, ok := s.set.trees[name]
	if !ok {
		fail("there is no template %q", name)
	}
	inner := &state{set: s.set, w: s.w, vars: []variable{{"$", dot}}}
	inner.list(dot, list)
}

func (s *state) list(dot reflect.Value, nodes []any) {
	for _, n := range nodes {
		s.node(dot, n)
	}
}

func (s *state) node(dot reflect.Value, node any) {
	before := len(s.vars)
	switch n := node.(type) {
	case textNode:
		s.write(string(n))
	case actionNode:
		value := s.pipe(dot, n.pipe)
		if len(n.pipe.variables) == 0 {
			s.print(value)
		}
		return // variables stay
	case branchNode:
		if n.kind == "range" {
			s.each(dot, n)
			break
		}
		value := s.pipe(dot, n.pipe)
		switch yes := truth(value); {
		case !yes:
			s.list(dot, n.orElse)
		case n.kind == "with":
			s.list(value, n.list)
		default:
			s.list(dot, n.list)
		}
	case templateNode:
		s.template(n.name, s.pipe(dot, n.pipe))
	}
	s.vars = s.vars[:before]
}

func (s *state) each(dot reflect.Value, n branchNode) {
	list := indirect(s.value(dot, n.pipe))
	before := len(s.vars)
	for i := range list.Len() {
		element := list.Index(i)
		switch names := n.pipe.variables; len(names) {
		case 1:
			s.vars = append(s.vars[:before], variable{names[0], element})
		case 2:
			s.vars = append(s.vars[:before], variable{names[0], reflect.ValueOf(i)}, variable{names[1], element})
		}
		s.list(element, n.list)
		s.vars = s.vars[:before]
	}
	if list.Len() == 0 {
		s.list(dot, n.orElse)
	}
}

func (s *state) write(text string) {
	if _, err := io.WriteString(s.w, text); err != nil {
		panic(failure{err})
	}
}

func (s *state) print(v reflect.Value) {
	text := "<no value>"
	if v.IsValid() {
		raw, ok := v.Interface().(Raw)
		text = string(raw)
		if !ok {
			if text = fmt.Sprint(v.Interface()); s.set.escape != nil {
				text = s.set.escape(text)
			}
		}
	}
	s.write(text)
}

// pipe is the value of a pipeline, which may set variables.
func (s *state) pipe(dot reflect.Value, p *pipeNode) (value reflect.Value) {
	if p == nil {
		return value
	}
	value = s.value(dot, p)
	for _, name := range p.variables {
		if !p.assign {
			s.vars = append(s.vars, variable{name, value})
			continue
		}
		s.vars[s.find(name)].value = value
	}
	return value
}

func (s *state) value(dot reflect.Value, p *pipeNode) (value reflect.Value) {
	for _, c := range p.commands {
		value = s.command(dot, c, value)
	}
	return value
}

func (s *state) find(name string) int {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			return i
		}
	}
	fail("there is no variable %s", name)
	return 0
}

// command is the value of a part of a pipeline. Last is that of the part before it, its last argument.
func (s *state) command(dot reflect.Value, c []any, last reflect.Value) reflect.Value {
	args := c[1:]
	switch n := c[0].(type) {
	case functionNode:
		switch n {
		case "and", "or":
			return s.shortCut(dot, n == "or", args)
		}
		return s.call(dot, string(n), reflect.ValueOf(s.set.funcs[string(n)]), reflect.Value{}, args, last)
	case fieldNode:
		return s.fields(dot, dot, n, args, last)
	case variableNode:
		return s.fields(dot, s.vars[s.find(n.name)].value, n.fields, args, last)
	case chainNode:
		return s.fields(dot, s.argument(dot, n.of, nil), n.fields, args, last)
	}
	if len(args) > 0 || last.IsValid() {
		fail("%v takes no arguments", c[0])
	}
	return s.argument(dot, c[0], nil)
}

// shortCut is the first argument that decides, or the last.
func (s *state) shortCut(dot reflect.Value, or bool, args []any) (v reflect.Value) {
	for _, a := range args {
		if v = s.argument(dot, a, nil); truth(v) == or {
			return v
		}
	}
	return v
}

// fields follows the names of fields and methods; arguments are for the last.
func (s *state) fields(dot, at reflect.Value, names []string, args []any, last reflect.Value) reflect.Value {
	for i, name := range names {
		var with []any
		var piped reflect.Value
		if i == len(names)-1 {
			with, piped = args, last
		}
		at = s.field(dot, at, name, with, piped)
	}
	return at
}

func (s *state) field(dot, at reflect.Value, name string, args []any, last reflect.Value) reflect.Value {
	if at.Kind() == reflect.Interface {
		at = at.Elem()
	}
	if !at.IsValid() {
		fail("%s of nothing", name)
	}
	methods := s.set.methods[name]
	list, ok := methods.([]any)
	if !ok && methods != nil {
		list = []any{methods}
	}
	for _, m := range list {
		f := reflect.ValueOf(m)
		receiver := f.Type().In(0)
		switch {
		case at.Type() == receiver:
			return s.call(dot, name, f, at, args, last)
		case at.Kind() == reflect.Pointer && at.Type().Elem() == receiver:
			return s.call(dot, name, f, at.Elem(), args, last)
		case at.CanAddr() && reflect.PointerTo(at.Type()) == receiver:
			return s.call(dot, name, f, at.Addr(), args, last)
		}
	}
	inner := indirect(at)
	if len(args) == 0 && !last.IsValid() {
		switch inner.Kind() {
		case reflect.Struct:
			if f := inner.FieldByName(name); f.IsValid() {
				return f
			}
		case reflect.Map:
			return inner.MapIndex(reflect.ValueOf(name))
		}
	}
	fail("%s has no field or method %s that is named for templates", at.Type(), name)
	return at
}

// call calls a function with a receiver, if it is one's, its arguments, and what came along the pipeline.
func (s *state) call(dot reflect.Value, name string, f, receiver reflect.Value, args []any, last reflect.Value) reflect.Value {
	var in []reflect.Value
	if receiver.IsValid() {
		in = append(in, receiver)
	}
	t := f.Type()
	for _, a := range args {
		in = append(in, s.argument(dot, a, parameter(t, name, len(in))))
	}
	if last.IsValid() {
		in = append(in, fit(last, parameter(t, name, len(in))))
	}
	if least := t.NumIn(); len(in) < least && !(t.IsVariadic() && len(in) == least-1) {
		fail("%s takes more than %d arguments", name, len(in))
	}
	out := f.Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		panic(failure{fmt.Errorf("%s: %w", name, out[1].Interface().(error))})
	}
	return concrete(out[0])
}

// parameter is the type of one of a function's.
func parameter(t reflect.Type, name string, i int) reflect.Type {
	switch last := t.NumIn() - 1; {
	case t.IsVariadic() && i >= last:
		return t.In(last).Elem()
	case i > last:
		fail("%s takes %d arguments at most", name, last+1)
	}
	return t.In(i)
}

// argument is the value of a node as a parameter of a type, or as it is.
func (s *state) argument(dot reflect.Value, node any, t reflect.Type) (v reflect.Value) {
	switch n := node.(type) {
	case dotNode:
		v = dot
	case bool, string:
		v = reflect.ValueOf(n)
	case numberNode:
		if n.whole && (t == nil || t.Kind() != reflect.Float64) {
			v = reflect.ValueOf(int(n.float))
		} else {
			v = reflect.ValueOf(n.float)
		}
	case *pipeNode:
		v = s.pipe(dot, n)
	case nilNode:
	default: // fields, variables, functions without arguments
		v = s.command(dot, []any{n}, reflect.Value{})
	}
	return fit(v, t)
}

// fit is a value as a parameter of a type.
func fit(v reflect.Value, t reflect.Type) reflect.Value {
	switch v = concrete(v); {
	case t == nil:
	case !v.IsValid():
		v = reflect.Zero(t)
	case v.Type().AssignableTo(t):
	case v.Kind() == reflect.Pointer && v.Type().Elem().AssignableTo(t):
		v = v.Elem()
	default:
		fail("%s is given where %s is taken", v.Type(), t)
	}
	return v
}

// concrete is what an interface holds.
func concrete(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// truth reports whether a value is neither zero nor empty.
func truth(v reflect.Value) bool {
	switch v = concrete(v); v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

var builtin = Funcs{
	"and": 0, "or": 0, // they need not look at all arguments: see shortCut
	"not":    func(v any) bool { return !truth(reflect.ValueOf(v)) },
	"len":    func(v any) int { return indirect(reflect.ValueOf(v)).Len() },
	"print":  fmt.Sprint,
	"printf": fmt.Sprintf,
	"index":  index,
	"eq": func(a any, b ...any) bool {
		return slices.ContainsFunc(b, func(b any) bool { return equal(a, b) })
	},
	"ne": func(a, b any) bool { return !equal(a, b) },
	"lt": func(a, b any) bool { return compare(a, b) == -1 },
	"le": func(a, b any) bool { c := compare(a, b); return c == -1 || c == 0 },
	"gt": func(a, b any) bool { return compare(a, b) == 1 },
	"ge": func(a, b any) bool { c := compare(a, b); return c == 1 || c == 0 },
}

func equal(a, b any) bool {
	if t := reflect.TypeOf(a); t == reflect.TypeOf(b) && t.Comparable() {
		return a == b
	}
	return compare(a, b) == 0
}

// compare is -1, 0 or 1, or 2 where a number is NaN.
func compare(a, b any) int {
	x, y := indirect(reflect.ValueOf(a)), indirect(reflect.ValueOf(b))
	if x.Kind() == reflect.String && y.Kind() == reflect.String {
		return strings.Compare(x.String(), y.String())
	}
	f, g := number(x), number(y)
	switch {
	case f < g:
		return -1
	case f == g:
		return 0
	case f > g:
		return 1
	}
	return 2
}

func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return 1
		}
		return 0
	}
	fail("%s cannot be compared", v.Type())
	return 0
}

// index is an element of a list or a map.
func index(of any, at ...any) (any, error) {
	v := reflect.ValueOf(of)
	for _, i := range at {
		switch v = indirect(v); v.Kind() {
		case reflect.Map:
			element := v.MapIndex(reflect.ValueOf(i).Convert(v.Type().Key()))
			if !element.IsValid() {
				element = reflect.Zero(v.Type().Elem())
			}
			v = element
		case reflect.Slice, reflect.Array:
			n, ok := i.(int)
			if !ok || n < 0 || n >= v.Len() {
				return nil, fmt.Errorf("no element %v of %d", i, v.Len())
			}
			v = v.Index(n)
		default:
			return nil, fmt.Errorf("%s has no elements", v.Type())
		}
	}
	return v.Interface(), nil
}
