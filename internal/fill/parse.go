package fill

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// What a template is made of. Package text/template/parse knows more of it than any template here has, and is ten times as much.
type (
	textNode   string
	actionNode struct{ pipe *pipeNode }
	// A branchNode is an if, a with or a range.
	branchNode struct {
		kind         string
		pipe         *pipeNode
		list, orElse []any
	}
	templateNode struct {
		name string
		pipe *pipeNode // nil for none
	}

	// A pipeNode is commands, each with what the one before it gives, whose value variables take.
	pipeNode struct {
		variables []string
		assign    bool // to variables that are there
		commands  [][]any
	}

	// Parts of commands; strings, numbers and truths are themselves.
	dotNode      struct{}
	nilNode      struct{}
	functionNode string
	fieldNode    []string
	variableNode struct {
		name   string
		fields []string
	}
	chainNode struct {
		of     any
		fields []string
	}
	numberNode struct {
		float float64
		whole bool // without a point or an exponent
	}
)

// A parser goes through a text.
type parser struct {
	rest  string
	trees map[string][]any
	funcs Funcs
}

// parse adds the templates of a text. What is outside of all of them is one too, without a name.
func parse(text string, trees map[string][]any, funcs Funcs) (err error) {
	p := &parser{text, trees, funcs}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			near, _, _ := strings.Cut(p.rest, "\n")
			err = fmt.Errorf("before %.40q: %w", near, f.error)
		}
	}()
	list, ending := p.list()
	if ending != "" {
		fail("there is a %s too many", ending)
	}
	trees[""] = list
	return nil
}

const left, right, spaces = "{{", "}}", " \t\r\n"

// list is nodes up to an end or an else, of which it returns the words, or up to the end of the text.
func (p *parser) list() (nodes []any, ending string) {
	for {
		text, after, found := strings.Cut(p.rest, left)
		if p.rest = after; strings.HasPrefix(after, "- ") {
			text, p.rest = strings.TrimRight(text, spaces), after[1:]
		}
		if text != "" {
			nodes = append(nodes, textNode(text))
		}
		if !found {
			return nodes, ""
		}
		p.space()
		if comment, ok := strings.CutPrefix(p.rest, "/*"); ok {
			if _, p.rest, ok = strings.Cut(comment, "*/"); !ok {
				fail("a comment does not end")
			}
			p.close()
			continue
		}
		switch word := p.word(); word {
		case "end", "else":
			return nodes, word
		case "define":
			name := p.text()
			p.close()
			list, ending := p.list()
			if ending != "end" {
				fail("template %q does not end", name)
			}
			p.close()
			p.trees[name] = list
		case "template":
			n := templateNode{name: p.text()}
			if p.space(); !p.closes() {
				n.pipe = p.pipe()
			}
			p.close()
			nodes = append(nodes, n)
		case "if", "with", "range":
			nodes = append(nodes, p.branch(word))
		default:
			p.rest = word + p.rest
			nodes = append(nodes, actionNode{p.pipe()})
			p.close()
		}
	}
}

// branch is the rest of an if, a with or a range.
func (p *parser) branch(kind string) branchNode {
	n := branchNode{kind: kind, pipe: p.pipe()}
	p.close()
	var ending string
	if n.list, ending = p.list(); ending == "else" {
		p.space()
		if word := p.word(); word != "" { // another one, which ends with this
			n.orElse = []any{p.branch(word)}
			return n
		}
		p.close()
		n.orElse, ending = p.list()
	}
	if ending != "end" {
		fail("a %s does not end", kind)
	}
	p.close()
	return n
}

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, spaces) }

// closes reports whether an action ends here; close goes there.
func (p *parser) closes() bool {
	return strings.HasPrefix(p.rest, right) || strings.HasPrefix(p.rest, "-"+right)
}

func (p *parser) close() {
	p.space()
	if rest, ok := strings.CutPrefix(p.rest, "-"+right); ok {
		p.rest = strings.TrimLeft(rest, spaces)
	} else if p.rest, ok = strings.CutPrefix(p.rest, right); !ok {
		fail("an action does not end")
	}
}

// word is letters, digits and underscores, if there are any.
func (p *parser) word() (word string) {
	n := strings.IndexFunc(p.rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n < 0 {
		n = len(p.rest)
	}
	word, p.rest = p.rest[:n], p.rest[n:]
	return word
}

// text is one in quotes.
func (p *parser) text() string {
	p.space()
	quoted, err := strconv.QuotedPrefix(p.rest)
	if err != nil {
		fail("a text in quotes is missing")
	}
	p.rest = p.rest[len(quoted):]
	text, _ := strconv.Unquote(quoted)
	return text
}

// pipe is commands up to the end of an action, or of a parenthesis.
func (p *parser) pipe() *pipeNode {
	n := new(pipeNode)
	p.space()
	before := p.rest
	for strings.HasPrefix(p.rest, "$") {
		p.rest = p.rest[1:]
		n.variables = append(n.variables, "$"+p.word())
		if p.space(); strings.HasPrefix(p.rest, ",") {
			p.rest = p.rest[1:]
			p.space()
		}
	}
	rest, declares := strings.CutPrefix(p.rest, ":=")
	if !declares {
		rest, n.assign = strings.CutPrefix(p.rest, "=")
	}
	if p.rest = rest; !declares && !n.assign {
		n.variables, p.rest = nil, before
	}
	for {
		n.commands = append(n.commands, p.command())
		if !strings.HasPrefix(p.rest, "|") {
			return n
		}
		p.rest = p.rest[1:]
	}
}

// command is a value or a function, and its arguments.
func (p *parser) command() (parts []any) {
	for {
		p.space()
		if p.rest == "" || p.closes() || p.rest[0] == '|' || p.rest[0] == ')' {
			break
		}
		parts = append(parts, p.part())
	}
	if parts == nil {
		fail("a value is missing")
	}
	return parts
}

func (p *parser) part() any {
	switch c := p.rest[0]; {
	case c == '(':
		p.rest = p.rest[1:]
		inner := p.pipe()
		rest, ok := strings.CutPrefix(p.rest, ")")
		if p.rest = rest; !ok {
			fail("a parenthesis does not end")
		}
		if fields := p.fields(); fields != nil {
			return chainNode{inner, fields}
		}
		return inner
	case c == '"' || c == '`':
		return p.text()
	case c == '$':
		p.rest = p.rest[1:]
		return variableNode{"$" + p.word(), p.fields()}
	case c == '.':
		if fields := p.fields(); fields != nil {
			return fieldNode(fields)
		}
		p.rest = p.rest[1:]
		return dotNode{}
	case c >= '0' && c <= '9' || c == '-' || c == '+':
		n := strings.IndexFunc(p.rest[1:], func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) })
		if n < 0 {
			fail("an action does not end")
		}
		digits := strings.TrimSuffix(p.rest[:n+1], "-") // which belongs to what ends the action
		value, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			fail("%q is no number", digits)
		}
		p.rest = p.rest[len(digits):]
		return numberNode{value, !strings.ContainsAny(digits, ".eE")}
	}
	switch word := p.word(); word {
	case "true", "false":
		return word == "true"
	case "nil":
		return nilNode{}
	default:
		if _, ok := p.funcs[word]; !ok {
			fail("there is no function %q", word)
		}
		return functionNode(word)
	}
}

// fields is the names that follow, each after a point.
func (p *parser) fields() (names []string) {
	for strings.HasPrefix(p.rest, ".") {
		before := p.rest
		p.rest = p.rest[1:]
		name := p.word()
		if name == "" {
			p.rest = before
			return names
		}
		names = append(names, name)
	}
	return names
}
