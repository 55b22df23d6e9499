package reproduce

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/boxsum/boxsum/lab/plot"
)

// The experiments are templates, one for each. What a template looks up is what its
// experiment measures, and each line that it writes is a part of its section:
//
//	table 2 grouped: CAPTION    a table with two columns flush left, in groups of rows
//	| a | *b* | **c** | ~d~ |   a row of it, first the head: published, boxsum, missing
//	![0] CAPTION                a figure, as Draw writes it
//	> RATIO LEAST PUBLISHED gpu | CLAIM | FIGURES | WHY
//	                            a finding, see judge; with gpu, one that needs a GPU
//
// Any other line is a paragraph.
//
//go:embed *.tmpl *.json
var files embed.FS

// sections parses the templates when a report is written, because other commands of boxsum should not wait for it.
var sections = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(files, "*.tmpl"))
})

var functions = template.FuncMap{
	"cpu": func(algorithm, precision string, runs int, threads ...int) Spec {
		return Spec{Algorithm: algorithm, Precision: precision, Runs: runs, Threads: first(threads)}
	},
	"gpu": func(algorithm, precision string, runs int, group ...int) Spec {
		return Spec{Algorithm: algorithm, GPU: true, Precision: precision, Runs: runs, Group: first(group)}
	},
	"specs": func(s ...Spec) []Spec { return s }, "results": func(r ...Result) []Result { return r },
	"list": func(items ...any) []any { return items }, "dict": dict, "rows": rowsOf,
	"size": sized, "same": func(a, b Size) bool { return a == b }, "last": func(s []Size) Size { return s[len(s)-1] },
	"mul": func(a, b any) float64 { return float(a) * float(b) }, "div": func(a, b any) float64 { return float(a) / float(b) },
	"sub": func(a, b float64) float64 { return a - b }, "min": func(a, b float64) float64 { return min(a, b) }, "max": func(a, b float64) float64 { return max(a, b) },
	"inc": func(n int) int { return n + 1 }, "dec": func(n int) int { return n - 1 },
	"inf": func() float64 { return math.Inf(1) }, "nan": math.NaN, "isNaN": math.IsNaN,
	"share": func(part, of int) float64 { return float64(part) / float64(of) }, "gains": gains,
	"number": number, "times": times, "fast": asFast, "percent": percent, "count": count, "replace": strings.ReplaceAll,
	"dash":    func(n int) string { return cmp.Or(strings.TrimLeft(fmt.Sprint(n), "0"), "–") },
	"missing": func(why string) string { return mark(why, "missing") }, "costText": costText,
	"typeName": func(p string) string {
		return map[string]string{"f32": "float", "f32x4": "float4", "f64": "double", "u32": "integers"}[p]
	},
}

// published holds figures of the works, by table and size.
var published = sync.OnceValue(func() map[string]map[string][]float64 {
	return fromFile[map[string]map[string][]float64]("published.json")
})

func fromFile[T any](name string) (content T) {
	text, err := files.ReadFile(name)
	if err := cmp.Or(err, json.Unmarshal(text, &content)); err != nil {
		panic(err) // the file is embedded in the program
	}
	return content
}

// specs returns the specs that an experiment measures.
func (e *Experiment) specs(s *setting) []Spec {
	v := &view{setting: s, collect: true}
	v.tell(e.Name)
	return v.asked
}

// tableOf returns the table that a line begins, as in "table 2 grouped: caption", or nil.
func tableOf(line string) *table {
	head, caption, ok := strings.Cut(line, ": ")
	head, grouped := strings.CutSuffix(head, " grouped")
	left := 1
	if of, ok := strings.CutPrefix(head, "table "); ok {
		if left, _ = strconv.Atoi(of); left > 0 {
			head = "table"
		}
	}
	if !ok || head != "table" {
		return nil
	}
	return &table{Caption: caption, Left: left, Grouped: grouped}
}

// tell returns the blocks of an experiment's section.
func (v *view) tell(name string) []block {
	var out strings.Builder
	v.figures = nil
	if err := sections().ExecuteTemplate(&out, name, v); err != nil {
		panic(err) // templates do nothing that may fail
	}
	var blocks []block
	var last *table
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		if t := tableOf(line); t != nil {
			last = t
			blocks = append(blocks, last)
			continue
		}
		switch {
		case line == "":
		case line[0] == '|':
			last.add(line)
		case strings.HasPrefix(line, "!["):
			number, caption, _ := strings.Cut(line[2:], "] ")
			i, _ := strconv.Atoi(number)
			p := v.figures[i]
			if p.Caption = caption; p.Figure.(interface{ Check() error }).Check() == nil {
				blocks = append(blocks, p)
			}
		case strings.HasPrefix(line, "> "):
			blocks = append(blocks, v.finding(line[2:], name))
		default:
			blocks = append(blocks, text(line))
		}
	}
	return blocks
}

// add adds a line of cells; the first line is the head.
func (t *table) add(line string) {
	var row []cell
	for c := range strings.SplitSeq(strings.TrimSuffix(line[1:], "|"), "|") {
		row = append(row, newCell(strings.TrimSpace(c)))
	}
	if t.Head != nil {
		t.Rows = append(t.Rows, row)
		return
	}
	for _, c := range row {
		t.Head = append(t.Head, c.Text)
	}
}

// Markup of cells, and replacements for characters that would be mistaken for it.
var (
	marks  = []struct{ mark, kind string }{{"**", "boxsum"}, {"*", "published"}, {"~", "missing"}}
	hide   = strings.NewReplacer("|", "\x00", "\n", "\x01").Replace
	reveal = strings.NewReplacer("\x00", "|", "\x01", "\n").Replace
)

func newCell(text string) cell {
	for _, m := range marks {
		if n := len(m.mark); len(text) >= 2*n && strings.HasPrefix(text, m.mark) && strings.HasSuffix(text, m.mark) {
			return cell{reveal(text[n : len(text)-n]), m.kind}
		}
	}
	return cell{reveal(text), ""}
}

// mark returns the text of a cell with the markup of its kind.
func mark(text, kind string) string {
	for _, m := range marks {
		if m.kind == kind {
			return m.mark + hide(text) + m.mark
		}
	}
	return hide(text)
}

// finding parses the line of a finding.
func (v *view) finding(line, where string) *finding {
	parts := append(strings.SplitN(strings.TrimSuffix(line, " |"), " | ", 4), "")
	figures := strings.Fields(parts[0])
	var n [3]float64
	for i := range n {
		n[i], _ = strconv.ParseFloat(figures[i], 64)
	}
	f := judge(parts[1], n[0], n[1], n[2], where, parts[2], parts[3])
	if len(figures) > 3 {
		f = v.onlyGPU(f)
	}
	return f
}

// A row is an algorithm in a list of a template.
type row struct {
	Name, Precision string
	Spec            Spec
	Hue             int
}

// rowsOf parses lines of a name, an algorithm, a precision, a hue, and optionally the threads per block.
func rowsOf(text string) (rows []row) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		p := append(strings.Split(strings.TrimSpace(line), " | "), "")
		hue, _ := strconv.Atoi(p[3])
		group, _ := strconv.Atoi(p[4])
		rows = append(rows, row{p[0], p[2], Spec{Algorithm: p[1], GPU: true, Precision: p[2], Group: group, Runs: 25}, hue})
	}
	return rows
}

func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0].(string)] = pair[1]
	}
	return m
}

func first(n []int) int { return append(n, 0)[0] }

func float(v any) float64 {
	if n, ok := v.(int); ok {
		return float64(n)
	}
	return v.(float64)
}

// gains returns how many of two ratios are gains that exceed noise.
func gains(a, b float64) float64 {
	n := 0 * (a + b) // NaN if either is
	for _, r := range []float64{a, b} {
		if r > 1.05 {
			n++
		}
	}
	return n
}

// styleOf parses a style: a hue, then heavy, hollow, dash1 or dash2.
func styleOf(words string) (s plot.Style) {
	for word := range strings.FieldsSeq(words) {
		switch word {
		case "heavy":
			s.Heavy = true
		case "hollow":
			s.Hollow = true
		case "dash1", "dash2":
			s.Dash = int(word[4] - '0')
		default:
			s.Hue, _ = strconv.Atoi(word)
		}
	}
	return s
}
