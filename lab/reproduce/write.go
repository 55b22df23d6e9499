package reproduce

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/lab/plot"
	"github.com/boxsum/boxsum/papers"
)

// A Writer writes reports to a folder: report.html, report.md, results.json, and
// plots/ with every plot as SVG and PNG.
type Writer struct {
	dir   string
	plots map[string][]byte // the SVG written last
}

// NewWriter creates the folder if necessary, and returns an error if it cannot be written to.
func NewWriter(dir string) (*Writer, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file: name a folder for the report", dir)
	}
	if err := os.MkdirAll(filepath.Join(dir, "plots"), 0o777); err != nil {
		return nil, err
	}
	probe, err := os.CreateTemp(dir, ".boxsum-*")
	if err != nil {
		return nil, err
	}
	probe.Close()
	return &Writer{dir, map[string][]byte{}}, os.Remove(probe.Name())
}

// Write writes a report. Each file is replaced only when its new contents are complete.
func (w *Writer) Write(r *Report) error {
	doc := r.document()
	for _, p := range doc.Pictures {
		var svg bytes.Buffer
		if err := plot.SVG(&svg, p.Figure); err != nil {
			return err
		}
		if bytes.Equal(svg.Bytes(), w.plots[p.Name]) {
			continue // unchanged since the last time
		}
		path := filepath.Join("plots", p.Name)
		err := w.file(path+".svg", func(to io.Writer) error { _, err := to.Write(svg.Bytes()); return err })
		if err = cmp.Or(err, w.file(path+".png", func(to io.Writer) error { return plot.PNG(to, p.Figure) })); err != nil {
			return err
		}
		w.plots[p.Name] = svg.Bytes()
	}
	return cmp.Or(w.file("results.json", r.writeJSON), w.file("report.md", doc.markdown), w.file("report.html", doc.html))
}

func (w *Writer) file(name string, write func(io.Writer) error) error {
	if err := imgio.WriteFile(filepath.Join(w.dir, name), write); err != nil {
		return err
	}
	return nil
}

// saved is a report as JSON, including what its sections are generated from.
type saved struct {
	Report
	Experiments []string `json:"experiments"`
	Sizes       []Size   `json:"sizes,omitempty"`
}

func (r *Report) writeJSON(w io.Writer) error {
	s := saved{Report: *r, Experiments: []string{}}
	for _, e := range r.experiments {
		s.Experiments = append(s.Experiments, e.Name)
	}
	if r.setting != nil {
		s.Sizes = r.setting.sizes
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// Load reads the results.json of a report so that the report can be written again.
func Load(from io.Reader) (*Report, error) {
	var s saved
	err := json.NewDecoder(from).Decode(&s)
	if other := new(json.UnmarshalTypeError); errors.As(err, &other) {
		return nil, fmt.Errorf("not the results of a report: unexpected %s of JSON at byte %d", strings.Fields(other.Value)[0], other.Offset)
	} else if err != nil {
		return nil, fmt.Errorf("not the results of a report: %w", err)
	}
	for _, size := range s.Sizes {
		if size.Width < 1 || size.Height < 1 {
			return nil, fmt.Errorf("the results contain size %d×%d, want at least 1×1", size.Width, size.Height)
		}
	}
	if len(s.Experiments) == 0 {
		return nil, fmt.Errorf("the results contain no experiment")
	}
	r := &s.Report
	for _, result := range r.Results {
		if err := result.believable(); err != nil {
			return nil, fmt.Errorf("%v in the results: %w", result.Spec, err)
		}
	}
	r.set(s.Sizes, 0)
	r.experiments, err = Select(s.Experiments)
	return r, err
}

// A document holds the contents of a report.
type document struct {
	*Report
	Facts    [][2]string
	Note     string
	Findings []*finding
	Pictures []*picture
	Works    []workSection
}

// A workSection is one work with its experiments.
type workSection struct {
	Name, Title, Citation string
	Sections              []section
}

// A section is one experiment.
type section struct {
	Name, Title string
	Blocks      []block
}

func (r *Report) document() *document {
	v := &view{setting: r.setting, machine: r.Machine, results: r.Results, Turned: r.Turned, People: r.People}
	d := &document{Report: r, Note: v.gpuNote(), Facts: [][2]string{
		{"Processor", fmt.Sprintf("%s, %s, %s", r.Machine.CPU, count(r.Machine.Cores, "core"), r.Machine.Level)},
		{"Device", r.Machine.deviceText()},
		{"System", r.Machine.System},
		{"Program", r.Version},
		{"Made", r.Made.Format("2006-01-02 15:04 UTC")},
	}}
	if r.Command != "" {
		d.Facts = append(d.Facts, [2]string{"Command", r.Command})
	}
	for _, e := range r.experiments {
		s := section{Name: e.Name, Title: e.Title, Blocks: v.tell(e.Name)}
		for _, b := range s.Blocks {
			switch b := b.(type) {
			case *finding:
				d.Findings = append(d.Findings, b)
			case *picture:
				d.Pictures = append(d.Pictures, b)
			}
		}
		if n := len(d.Works); n == 0 || d.Works[n-1].Name != e.Work() {
			d.Works = append(d.Works, newWork(e.Work()))
		}
		last := &d.Works[len(d.Works)-1]
		last.Sections = append(last.Sections, s)
	}
	return d
}

// newWork returns the section of a work without its experiments.
func newWork(name string) workSection {
	works := papers.Works()
	i := slices.IndexFunc(works, func(w *papers.Work) bool { return w.Name == name })
	if i < 0 {
		return workSection{Name: name, Title: "All works on one GPU"}
	}
	w := works[i]
	return workSection{Name: name, Title: workTitles[name], Citation: fmt.Sprintf("%s: “%s”, %s.", w.Authors, w.Title, w.Where)}
}

var workTitles = map[string]string{
	"bilgic": "Bilgic, Horn and Masaki", "intimg": "intimg", "messom": "Messom and Barczak", "bertazzini": "Bertazzini and Guiducci",
}

// Method describes how the measurements were made.
func (d *document) Method() string {
	runs := "The number of runs is the published one, limited to a few seconds for each algorithm (results.json records it)."
	if d.Quick {
		runs = "This was a quick run, with few repetitions and fewer sizes."
	}
	return "Before an algorithm was timed, all entries of its table were compared with a reference. The algorithms for one image size ran in turns on the same pixels. " + runs +
		" Times are medians unless a table says otherwise; times of a GPU exclude transfers. Published times were measured on other machines, so only the ratios and the columns measured here can be compared."
}
