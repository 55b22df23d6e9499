package fill

import (
	"errors"
	"html"
	"strings"
	"testing"
	"testing/fstest"
	"text/template"
)

type size struct{ W, H int }

func (s size) String() string          { return "size" }
func (s size) Area() int               { return s.W * s.H }
func (s size) Plus(n int) size         { return size{s.W + n, s.H + n} }
func (s *size) Scaled(f float64) int   { return int(f * float64(s.W)) }
func (s size) Of(all ...string) string { return strings.Join(all, "+") }
func (s size) Bad() (int, error)       { return 0, errors.New("bad") }

type about struct {
	Size  *size
	Sizes []size
	Rows  [][]string
	Text  string
	Map   map[string]float64
	None  *size
	Any   any
	On    bool
}

var data = &about{&size{3, 4}, []size{{1, 2}, {5, 6}}, [][]string{{"a", "b"}, {"c"}, nil}, "<x>", map[string]float64{"one": 1.5}, nil, size{7, 8}, true}

var methods = Funcs{"Area": size.Area, "Plus": size.Plus, "Scaled": (*size).Scaled, "Of": size.Of, "Bad": size.Bad}

var funcs = Funcs{"list": func(all ...any) []any { return all }, "add": func(a, b int) int { return a + b }, "half": func(f float64) float64 { return f / 2 }}

// Templates print what they do with package text/template.
func TestAsTextTemplate(t *testing.T) {
	for _, text := range []string{
		"", "plain", "{{.Text}} {{.Size}} {{.Size.W}} {{.Size.Area}} {{(.Size.Plus 2).Area}} {{.Any.W}} {{.Any.Area}}",
		"{{.Size.Scaled 2}} {{.Size.Scaled 0.5}} {{.Size.Of}} {{.Size.Of \"a\" .Text}} {{half 3}} {{add 1 2 | add 3}}",
		"{{if .On}}yes{{else}}no{{end}}{{if .None}}yes{{else if .Text}}text{{end}}{{with .None}}x{{else}}nothing{{end}}{{with .Size}}{{.W}}{{$.Text}}{{end}}",
		"{{range .Sizes}}[{{.W}} {{.Area}} {{.Scaled 3}}]{{end}}{{range $i, $s := .Sizes}}{{$i}}:{{$s.H}} {{end}}{{range $s := .Sizes}}{{$s}}{{end}}",
		"{{range .Rows}}({{range .}}{{.}},{{else}}empty{{end}}){{end}}{{range $i, $r := .Rows}}{{range $j, $c := $r}}{{$i}}{{$j}}{{$c}} {{end}}{{end}}",
		"{{$x := 1}}{{range .Sizes}}{{$x = add $x .W}}{{end}}{{$x}}{{if true}}{{$x := 9}}{{$x}}{{end}}{{$x}}",
		"{{eq 1 1}} {{eq .Text \"<x>\" }} {{eq 3 1 3}} {{ne 1 2}} {{lt 1 2}} {{le 2 2}} {{gt 1 2}} {{ge 1.5 1.5}} {{eq (index .Sizes 0) (index .Sizes 0)}}",
		"{{and 1 0}} {{or 0 \"x\"}} {{and true .Text}} {{not .On}} {{len .Sizes}} {{len .Text}} {{index .Rows 0 1}} {{index .Map \"one\"}} {{.Map.one}} {{index .Map \"two\"}}",
		"{{print 1 2 \"x\"}} {{printf \"%q %5.2f\" .Text 1.5}} {{range list 1 .Text 2.5}}{{.}} {{end}}",
		"{{define \"inner\"}}<{{.}}{{$}}>{{end}}{{template \"inner\" .Text}} {{- /* away */ -}} {{template \"inner\" 4}}",
		"{{with $s := .Size}}{{$s.H}}{{end}}{{with index .Sizes 1}}{{.H}}{{end}}",
		" a {{- .Text -}} b\n{{/* one */}}\n{{- /* two */ -}}\n c {{ .Text }} {{-  1 -}} {{2}}{{- 3 -}}",
		"{{with .None}}x{{else with .Size}}{{.W}}{{else}}y{{end}}{{if false}}1{{else if .None}}2{{else if 0}}3{{else}}4{{end}}{{if .On}}{{if .None}}5{{else}}6{{end}}{{end}}",
		"{{add (add 1 2) (len .Rows)}} {{(index .Sizes 1).Plus -1}} {{((.Size.Plus 2).Plus (add 1 1)).Area}} {{add -3 +4}} {{half 1e3}} {{half 0.25}}{{half -2}}",
		"{{range $i, $s := .Sizes}}{{$x := $s.W}}{{with $s}}{{$x}}{{$i}}{{.H}}{{$.Text}}{{end}}{{end}}{{$z := 3 | add 4}}{{$z}}{{$z = add $z 1}}{{$z | printf \"%03d\" | print}}",
		"{{print `raw \"text\"` \"\\n\\t}}\" nil}} {{print true false}} {{printf \"%v|%v\" (and .On .Text) (or .None 7)}}",
		"{{define \"a b\"}}[{{.}}]{{end}}{{define \"none\"}}x{{end -}} {{template \"none\"}}{{template \"a b\" (add 1 2)}}{{range .Sizes}}{{template \"a b\" .Area}}{{end}}",
	} {
		all := template.FuncMap{}
		for name, f := range funcs {
			all[name] = f
		}
		var got, want strings.Builder
		if err := template.Must(template.New("").Funcs(all).Parse(text)).Execute(&want, data); err != nil {
			t.Fatal(err)
		}
		if err := Must(New(text, funcs, methods, nil)).Execute(&got, "", data); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got.String() != want.String() {
			t.Errorf("%s\n is  %q\nwant %q", text, got.String(), want.String())
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{{.Nothing}}": "Nothing", "{{.Size.String}}": "named", "{{.Size.Plus}}": "more", "{{.Size.Plus 1 2}}": "at most", "{{.Size.Plus 1.5}}": "float64",
		"{{.Size.Bad}}": "bad", "{{template \"none\"}}": "none", "{{index .Sizes 2}}": "no element", "{{.None.W}}": "", "{{lt .Sizes 1}}": "compared", "{{len 3}}": "",
	} {
		s, err := New(text, funcs, methods, nil)
		if err == nil {
			func() {
				defer func() {
					if r := recover(); r != nil {
						err = errors.New("panic")
					}
				}()
				err = s.Execute(new(strings.Builder), "", data)
			}()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"{{nosuch 1}}", "{{if .On}}", "{{end}}", "{{else}}", "{{.Text", "{{define \"a\"}}", "{{define a}}{{end}}", "{{(.Text}}", "{{}}", "{{.Text |}}", "{{/* }}", "{{1x}}", "{{range .}}{{else}}{{else}}{{end}}", "{{\"a}}", "{{if}}x{{end}}", "{{.Text)}}", "{{3"} {
		if _, err := New(text, nil, nil, nil); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestEscape(t *testing.T) {
	var b strings.Builder
	raw := Funcs{"raw": func(s string) Raw { return Raw(s) }}
	if err := Must(New("<b>{{.Text}}</b>{{raw .Text}}", raw, nil, html.EscapeString)).Execute(&b, "", data); err != nil || b.String() != "<b>&lt;x&gt;</b><x>" {
		t.Error(b.String(), err)
	}
}

func TestFromFiles(t *testing.T) {
	files := fstest.MapFS{"a.tmpl": {Data: []byte(`{{define "a"}}A{{template "b" .}}{{end}}`)}, "b.tmpl": {Data: []byte(`{{define "b"}}B{{.}}{{end}}`)}}
	var b strings.Builder
	if err := Must(FromFiles(files, "*.tmpl", nil, nil)).Execute(&b, "a", 1); err != nil || b.String() != "AB1" {
		t.Error(b.String(), err)
	}
}
