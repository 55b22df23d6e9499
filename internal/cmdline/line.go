// Package cmdline reads a command line into structs: a struct for each verb, whose fields are its flags and arguments, as
// their tags say. It looks at fields only and never at methods by name, so that the linker can leave out every
// method that nobody calls.
//
//	cmd:""            a verb; hidden:"" leaves it out of lists
//	arg:""            an argument; optional:"" may be left out, and a slice takes all that are left
//	name, short       what the flag is called, unless as its field
//	default, enum     its value unless told, and the words that it may be
//	words             words that it may be made of, for completion
//	placeholder       what stands for its value in help
//	required:""       must be given
//	xor:"group"       only one of a group may be given
//	negatable:""      may be given as --no-name
//	set:"name=value"  of an embedded struct: a variable for the tags in it
//	cmd:"-"           no flag
//
// Fields of embedded structs are as those of the struct itself. ${name} in default and help is a variable, and
// ${default} in help the default.
package cmdline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A Reader reads the value of a flag of a type that has no reader here.
type Reader struct {
	typ  reflect.Type
	form string // what it expects
	read func(text string, to reflect.Value) error
}

// ReaderOf is a reader of flags of type F: set stores what was read, once for each time that the flag is given. Its text may begin with a minus.
func ReaderOf[F, T any](form string, parse func(string) (T, error), set func(*F, T)) Reader {
	return Reader{reflect.TypeFor[F](), form, func(text string, to reflect.Value) error {
		value, err := parse(text)
		if err == nil {
			set(to.Addr().Interface().(*F), value)
		}
		return err
	}}
}

// A Line is all verbs of a program.
type Line struct {
	Name, Help string
	Verbs      []*Verb
	Flags      []*Value // that every verb has: --help and --version
	readers    []Reader
}

// A Verb is a command, and Target the struct of its flags and arguments.
type Verb struct {
	Name, Help string
	Detail     string // more of its help
	Hidden     bool
	Flags      []*Value
	Args       []*Value
	Target     reflect.Value
}

// A Value is a flag or an argument.
type Value struct {
	Name, Help  string
	Short       rune
	Enum, Words string
	Default     string
	Placeholder string
	Required    bool
	Set         bool // by the command line
	Target      reflect.Value

	arg, negatable bool
	xor            string
}

// New is the command line of a struct whose fields are verbs.
func New(name, help string, root any, vars map[string]string, readers []Reader) (*Line, error) {
	l := &Line{Name: name, Help: help, readers: readers}
	no := func() *Value { return &Value{Target: reflect.New(reflect.TypeFor[bool]()).Elem()} }
	h, v := no(), no()
	h.Name, h.Short, h.Help = "help", 'h', "Show context-sensitive help."
	v.Name, v.Help = "version", "Print the version and leave."
	l.Flags = []*Value{h, v}
	fields := reflect.ValueOf(root).Elem()
	for i := range fields.NumField() {
		field := fields.Type().Field(i)
		verb := &Verb{Name: dashed(field.Name), Help: field.Tag.Get("help"), Target: fields.Field(i)}
		_, verb.Hidden = field.Tag.Lookup("hidden")
		if err := l.add(verb, verb.Target, vars); err != nil {
			return nil, fmt.Errorf("%s: %w", verb.Name, err)
		}
		l.Verbs = append(l.Verbs, verb)
	}
	return l, nil
}

// add adds the fields of a struct to those of a verb, and gives them their defaults.
func (l *Line) add(verb *Verb, fields reflect.Value, vars map[string]string) error {
	for i := range fields.NumField() {
		field, tag := fields.Type().Field(i), fields.Type().Field(i).Tag
		target := fields.Field(i)
		if tag.Get("cmd") == "-" {
			continue
		}
		if field.Anonymous {
			inner := vars
			if name, value, ok := strings.Cut(tag.Get("set"), "="); ok {
				inner = map[string]string{name: value}
				for name, value := range vars {
					if _, ok := inner[name]; !ok {
						inner[name] = value
					}
				}
			}
			if err := l.add(verb, target, inner); err != nil {
				return err
			}
			continue
		}
		if !field.IsExported() {
			continue
		}
		has := func(name string) bool { _, ok := tag.Lookup(name); return ok }
		v := &Value{
			Name: tag.Get("name"), Enum: tag.Get("enum"), Words: tag.Get("words"), Placeholder: tag.Get("placeholder"), Default: fillIn(tag.Get("default"), vars, ""),
			Required: has("required"), Target: target, arg: has("arg"), negatable: has("negatable"), xor: tag.Get("xor"),
		}
		v.Help = fillIn(tag.Get("help"), vars, v.Default)
		if v.Name == "" {
			v.Name = dashed(field.Name)
		}
		for _, r := range tag.Get("short") {
			v.Short = r
		}
		if v.arg {
			v.Required = !has("optional")
			verb.Args = append(verb.Args, v)
		} else {
			verb.Flags = append(verb.Flags, v)
		}
		if has("default") {
			if err := l.read(v, v.Default); err != nil {
				return fmt.Errorf("default of %s: %w", v.Name, err)
			}
			v.Set = false
		}
	}
	return nil
}

// fillIn puts values in the place of ${name}.
func fillIn(text string, vars map[string]string, preset string) string {
	pairs := []string{"${default}", preset}
	for name, value := range vars {
		pairs = append(pairs, "${"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// dashed is the name of a field as that of a flag: AsStored is as-stored.
func dashed(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if unicode.IsUpper(r) {
			if i > 0 && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
				b.WriteByte('-')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// flags is those of a verb, or of none, and of all verbs.
func (l *Line) flags(verb *Verb) []*Value {
	if verb == nil {
		return l.Flags
	}
	return slices.Concat(l.Flags, verb.Flags)
}

// IsBool reports whether a flag takes no value.
func (v *Value) IsBool() bool {
	return v.Target.Kind() == reflect.Bool || v.Target.Kind() == reflect.Pointer && v.Target.Type().Elem().Kind() == reflect.Bool
}

// isList reports whether a value may be several.
func (v *Value) isList() bool {
	return v.Target.Kind() == reflect.Slice && v.Target.Type().Name() == ""
}

// Form is what stands for the value of a flag.
func (v *Value) Form() string {
	form := v.Placeholder
	switch {
	case form != "":
	case v.Default != "" && v.Target.Kind() == reflect.String:
		form = fmt.Sprintf("%q", v.Default)
	case v.Default != "":
		form = v.Default
	default:
		form = strings.ToUpper(v.Name)
	}
	if v.isList() {
		form += ",..."
	}
	return form
}

// String is a value as errors and help name it.
func (v *Value) String() string {
	if !v.arg {
		return "--" + v.Name
	}
	text := "<" + v.Name + ">"
	if v.isList() {
		text += " ..."
	}
	if !v.Required {
		text = "[" + text + "]"
	}
	return text
}
