package cmdline

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Asked is what a line asks for instead of a verb's work.
type Asked int

// What may be asked for.
const (
	Work Asked = iota
	Help
	Version
)

// Parse reads the arguments into the struct of the verb that they name. Where they ask for help, the verb may be nil.
func (l *Line) Parse(args []string) (verb *Verb, asked Asked, err error) {
	p := parser{line: l, rest: args}
	if err := p.run(); err != nil {
		return p.verb, Work, err
	}
	for _, flag := range p.given { // the first counts
		switch flag {
		case l.Flags[0]:
			return p.verb, Help, nil
		case l.Flags[1]:
			return p.verb, Version, nil
		}
	}
	return p.verb, Work, l.check(p.verb)
}

// A parser goes along a line.
type parser struct {
	line  *Line
	verb  *Verb
	args  int // how many of the verb's have been read
	rest  []string
	ended bool     // by --
	given []*Value // flags, in their order
}

func (p *parser) run() error {
	for len(p.rest) > 0 {
		word := p.rest[0]
		var err error
		switch {
		case p.ended || word == "-" || !strings.HasPrefix(word, "-"):
			err = p.word(word)
		case word == "--":
			p.ended, p.rest = true, p.rest[1:]
		case strings.HasPrefix(word, "--"):
			p.rest = p.rest[1:]
			name, value, ok := strings.Cut(word, "=")
			err = p.flag(name, value, ok)
		default:
			p.rest = p.rest[1:]
			err = p.short(word[1:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// word takes a verb, or an argument of it, or all that follow as well.
func (p *parser) word(word string) error {
	switch {
	case p.verb == nil:
		p.rest = p.rest[1:]
		var names []string
		for _, v := range p.line.Verbs {
			if v.Name == word {
				p.verb = v
				return nil
			}
			if !v.Hidden {
				names = append(names, v.Name)
			}
		}
		return unknown("unexpected argument "+word, word, names)
	case p.args == len(p.verb.Args):
		return errors.New("unexpected argument " + word)
	}
	arg := p.verb.Args[p.args]
	for {
		p.rest = p.rest[1:]
		if err := p.line.read(arg, word); err != nil {
			return err
		}
		if !arg.isList() || len(p.rest) == 0 {
			break
		}
		if word = p.rest[0]; !p.ended && !isValue(word) {
			break
		}
	}
	p.args++
	return nil
}

// isValue reports whether a word is no flag.
func isValue(word string) bool { return word == "-" || !strings.HasPrefix(word, "-") }

// short takes flags of one letter each, and the value of the last.
func (p *parser) short(letters string) error {
	for letters != "" {
		_, n := utf8.DecodeRuneInString(letters)
		name := "-" + letters[:n]
		letters = letters[n:]
		if v, _ := p.find(name); v != nil && !v.IsBool() && letters != "" {
			return p.flag(name, letters, true)
		}
		if err := p.flag(name, "", false); err != nil {
			return err
		}
	}
	return nil
}

// find is the flag of a name, and whether the name says no.
func (p *parser) find(name string) (v *Value, negated bool) {
	for _, v := range p.line.flags(p.verb) {
		if name == "--"+v.Name || v.Short != 0 && name == "-"+string(v.Short) {
			return v, false
		}
		if v.negatable && name == "--no-"+v.Name {
			return v, true
		}
	}
	return nil, false
}

// flag takes one, with its value where that is part of its word.
func (p *parser) flag(name, value string, with bool) error {
	v, negated := p.find(name)
	if v == nil {
		var names []string
		for _, v := range p.line.flags(p.verb) {
			names = append(names, "--"+v.Name)
			if v.Short != 0 {
				names = append(names, "-"+string(v.Short))
			}
		}
		return unknown("unknown flag "+name, name, names)
	}
	p.given = append(p.given, v)
	if v.IsBool() {
		return v.readBool(value, with, negated)
	}
	if !with {
		reader := p.line.readerOf(v)
		switch {
		case len(p.rest) == 0 && reader != nil:
			return fmt.Errorf("%s: expected %s", v, reader.form)
		case len(p.rest) == 0:
			return fmt.Errorf("%s: expected %s", v, v.wants())
		case reader == nil && !isValue(p.rest[0]):
			return fmt.Errorf("%s: expected %s but got %q; perhaps try %s=%q?", v, v.wants(), p.rest[0], v, p.rest[0])
		}
		value, p.rest = p.rest[0], p.rest[1:]
	}
	return p.line.read(v, value)
}

// wants is what to say that a flag takes.
func (v *Value) wants() string {
	switch {
	case v.Enum != "":
		return "one of " + v.Enum
	case v.Placeholder != "":
		return v.Form()
	}
	return "a value"
}

func (v *Value) readBool(value string, with, negated bool) error {
	yes := true
	if with {
		switch strings.ToLower(value) {
		case "true", "1", "yes":
		case "false", "0", "no":
			yes = false
		default:
			return fmt.Errorf("%s: must be true, 1, yes, false, 0 or no but got %q", v, value)
		}
	}
	v.Set = true
	at := v.Target
	if at.Kind() == reflect.Pointer {
		at.Set(reflect.New(at.Type().Elem()))
		at = at.Elem()
	}
	at.SetBool(yes != negated)
	return nil
}

func (l *Line) readerOf(v *Value) *Reader {
	typ := v.Target.Type()
	for i, r := range l.readers {
		if r.typ == typ || typ.Kind() == reflect.Pointer && r.typ == typ.Elem() {
			return &l.readers[i]
		}
	}
	return nil
}

// read reads a value. The first for a slice takes the place of its default.
func (l *Line) read(v *Value, text string) error {
	if !v.Set && v.Target.Kind() == reflect.Slice {
		v.Target.SetZero()
	}
	v.Set = true
	at := v.Target
	if at.Kind() == reflect.Pointer {
		at.Set(reflect.New(at.Type().Elem()))
		at = at.Elem()
	}
	var err error
	switch r := l.readerOf(v); {
	case r != nil:
		err = r.read(text, at)
	case v.isList() && v.arg:
		err = readInto(appended(at), text)
	case v.isList():
		for part := range strings.SplitSeq(text, ",") {
			if err = readInto(appended(at), part); err != nil {
				break
			}
		}
	default:
		err = readInto(at, text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", v, err)
	}
	return nil
}

// appended is a new last element of a slice.
func appended(list reflect.Value) reflect.Value {
	list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
	return list.Index(list.Len() - 1)
}

func readInto(to reflect.Value, text string) error {
	switch to.Kind() {
	case reflect.String:
		to.SetString(text)
	case reflect.Int:
		n, err := strconv.ParseInt(text, 0, strconv.IntSize)
		if err != nil {
			return fmt.Errorf("expected a whole number but got %q", text)
		}
		to.SetInt(n)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("expected a number but got %q", text)
		}
		to.SetFloat(f)
	default:
		return fmt.Errorf("flags cannot be of type %s", to.Type())
	}
	return nil
}

// check reports what a whole line lacks, and what cannot go together.
func (l *Line) check(verb *Verb) error {
	if verb == nil {
		return fmt.Errorf("expected a command, such as %s", l.Verbs[0].Name)
	}
	var missing []string
	groups := map[string]*Value{}
	for _, v := range slices.Concat(verb.Flags, verb.Args) {
		switch {
		case v.Required && !v.Set && v.arg:
			missing = append(missing, v.String())
		case v.Required && !v.Set:
			return fmt.Errorf("missing flags: --%s=%s", v.Name, v.Form())
		case v.Set && v.Enum != "":
			words := strings.Split(v.Enum, ",")
			if got := v.Target.String(); !slices.Contains(words, got) {
				return fmt.Errorf("%s must be one of %s but got %q", v, `"`+strings.Join(words, `","`)+`"`, got)
			}
		}
		if v.Set && v.xor != "" {
			if other := groups[v.xor]; other != nil {
				return fmt.Errorf("%s and %s can't be used together", other, v)
			}
			groups[v.xor] = v
		}
	}
	if missing != nil {
		return fmt.Errorf("expected %q", strings.Join(missing, " "))
	}
	return nil
}

// unknown is the error about a word, with those that it may be a slip for.
func unknown(text, word string, words []string) error {
	var near []string
	for _, w := range words {
		if strings.HasPrefix(w, word) || edits(w, word) <= 2 {
			near = append(near, strconv.Quote(w))
		}
	}
	switch len(near) {
	case 0:
		return errors.New(text)
	case 1:
		return fmt.Errorf("%s, did you mean %s?", text, near[0])
	}
	return fmt.Errorf("%s, did you mean one of %s?", text, strings.Join(near, ", "))
}

// edits is how many letters must come, go or change to make one word of another.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
