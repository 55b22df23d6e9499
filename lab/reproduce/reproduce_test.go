package reproduce

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum/gpu"
)

var (
	noMachine  = &Machine{CPU: "A processor", Cores: 4, Level: "avx2", System: "linux/amd64"}
	pocl       = &Machine{CPU: "A processor", Cores: 4, Level: "avx2", System: "linux/amd64", Device: "pthread", Kind: "opencl", StandIn: true, Units: 4}
	graphics   = &Machine{CPU: "A processor", Cores: 16, Level: "avx512", System: "linux/amd64", Device: "A <GPU>", Kind: "cuda", Units: 132}
	testedWith = map[string]*Machine{"no device": noMachine, "stand-in": pocl, "GPU": graphics}
)

// invented returns results that depend only on their specs. Those for a device are missing if the
// machine has none, as in a real lab.
func invented(m *Machine) func(context.Context, []Spec) []Result {
	return func(_ context.Context, specs []Spec) []Result {
		var results []Result
		for _, s := range specs {
			r := Result{Spec: s, On: "cpu", Verified: true}
			if s.GPU && m.Device == "" {
				r.Missing, r.Verified = "no device", false
				results = append(results, r)
				continue
			}
			ns := s.values() * float64(1+len(s.Algorithm)%7) / float64(max(1, s.Threads)) * float64(max(1, s.Cycles))
			if s.GPU {
				r.On, r.StandIn = m.Kind, m.StandIn
				ns /= 100
			}
			took := time.Duration(ns) + time.Microsecond
			if s.Kernels {
				r.Each = []Kernel{{Name: "scan", Median: ns / 1e6, Bytes: 1e6, Threads: 256, Shared: 2112, Registers: 16, Occupancy: 1}}
			}
			results = append(results, r.withTimes([]time.Duration{took, took + took/10, took * 2}))
		}
		return results
	}
}

// reportOn writes a report of invented results and returns its folder.
func reportOn(t *testing.T, m *Machine, cfg Config) (string, *Report) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "report")
	w, err := NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := inventedReport(t, m, cfg)
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

func inventedReport(t *testing.T, m *Machine, cfg Config) *Report {
	t.Helper()
	cfg.machine, cfg.measure = m, invented(m)
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// texts returns a report as HTML and as Markdown.
func texts(t *testing.T, r *Report) (page, markdown string) {
	t.Helper()
	var h, m strings.Builder
	doc := r.document()
	if err := errors.Join(doc.html(&h), doc.markdown(&m)); err != nil {
		t.Fatal(err)
	}
	return h.String(), m.String()
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// publishedFigures lists some figures of every table in the works.
var publishedFigures = []string{
	"2224", "1120", "16×16", // Bilgic et al., table 1
	"112", "51.56", "12.4×", // intimg
	"17.2", "68", "14.0×", // Messom and Barczak, table 2
	"25.9", "150", "4.50", // table 3
	"74,450", "13,744", "6554", // table 4
	"19,000", "7.72", // table 5
	"5.55", // Bertazzini and Guiducci
}

func TestReport(t *testing.T) {
	for name, m := range testedWith {
		for _, quick := range []bool{false, true} {
			r := inventedReport(t, m, Config{Quick: quick, Command: "boxsum reproduce all"})
			doc := r.document()
			for _, work := range doc.Works {
				for _, s := range work.Sections {
					checkSection(t, s)
				}
			}
			page, markdown := texts(t, r)
			checkPage(t, page)
			pictures := doc.Pictures
			if n := strings.Count(page, "<svg "); n != len(pictures) || m.Device != "" && n < 18 {
				t.Errorf("%s: the page has %d plots of %d", name, n, len(pictures))
			}
			for _, p := range pictures {
				if !strings.Contains(markdown, "(plots/"+p.Name+".svg)") {
					t.Errorf("%s: the Markdown does not show %s", name, p.Name)
				}
			}
			for _, want := range publishedFigures {
				if !strings.Contains(page, want) || !strings.Contains(markdown, want) {
					t.Errorf("%s: the published %q is not in the report", name, want)
				}
			}
			for _, e := range Experiments() {
				if !strings.Contains(page, `<section id="`+strings.ReplaceAll(e.Name, "/", "-")+`"`) {
					t.Errorf("%s: the page has no %s", name, e.Name)
				}
			}
			for text, there := range map[string]bool{
				"no device":           m.Device == "",
				"standing in for a G": m.StandIn,
				"A &lt;GPU&gt;":       m == graphics,
				"does not hold":       true,
			} {
				if strings.Contains(page, text) != there || strings.Contains(markdown, strings.ReplaceAll(text, "&gt;", ">")) != there {
					t.Errorf("%s: that the report says %q should be %v", name, text, there)
				}
			}
		}
	}
}

func checkSection(t *testing.T, s section) {
	t.Helper()
	tables := 0
	for _, b := range s.Blocks {
		switch b := b.(type) {
		case *table:
			tables++
			for _, row := range b.Rows {
				if len(row) != len(b.Head) {
					t.Errorf("%s: a row of %d cells under %d: %v", s.Name, len(row), len(b.Head), row)
				}
			}
			if len(b.Rows) == 0 || b.Caption == "" {
				t.Errorf("%s: a table of %d rows with the caption %q", s.Name, len(b.Rows), b.Caption)
			}
		case *picture:
			if c, ok := b.Figure.(interface{ Check() error }); !ok || c.Check() != nil || b.Caption == "" {
				t.Errorf("%s: %s cannot be drawn", s.Name, b.Name)
			}
		case *finding:
			if strings.Contains(b.Text, "NaN") || strings.Contains(b.Text, "Inf") || b.Claim == "" || b.Verdict == "" {
				t.Errorf("%s: %+v", s.Name, b)
			}
		}
	}
	if tables == 0 {
		t.Errorf("%s has no table", s.Name)
	}
}

// TestFiles tests that the files of a report contain what its page shows.
func TestFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("draws pictures, which takes seconds: leave out -short")
	}
	dir, r := reportOn(t, graphics, Config{Names: []string{"bilgic"}})
	page := read(t, dir, "report.html")
	for _, p := range r.document().Pictures {
		if !strings.HasPrefix(read(t, dir, "plots", p.Name+".png"), "\x89PNG") {
			t.Errorf("%s.png is no PNG", p.Name)
		}
		if svg := read(t, dir, "plots", p.Name+".svg"); !strings.Contains(page, svg) {
			t.Errorf("%s.svg is not what the page shows", p.Name)
		}
	}
	if !json.Valid([]byte(read(t, dir, "results.json"))) {
		t.Error("results.json is not JSON")
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Errorf("%d files instead of three and a folder: %v", len(files), err)
	}
}

// TestAgain tests that a report written again from its results is the same.
func TestAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("draws pictures, which takes seconds: leave out -short")
	}
	dir, _ := reportOn(t, pocl, Config{Names: []string{"messom/table-2", "gpu"}, Sizes: []Size{sized(640, 480), sized(300, 200)}})
	f, err := os.Open(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	again := t.TempDir()
	w, err := NewWriter(again)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.html", "report.md", "results.json"} {
		if read(t, dir, name) != read(t, again, name) {
			t.Errorf("%s is not the same", name)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", "[]", `{"experiments": ["cooking/soup"]}`, `{"experiments": ["messom"], "sizes": [{"width": 0, "height": 3}]}`} {
		if _, err := Load(strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken for results", text)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(`{"experiments": ["messom/table-3", "gpu/4096"], "sizes": [{"width": 8, "height": 3}], "results": [{"algorithm": "boxsum", "gpu": true, "precision": "f32", "width": 8, "height": 3, "runs": 1, "median_ms": 1e300}]}`)
	f.Add(`{"experiments": ["messom", "gpu", "gpu"], "sizes": []}`)
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := Load(strings.NewReader(text)); err == nil {
			doc := r.document() // must not panic
			_ = doc.html(new(strings.Builder))
		}
	})
}

func TestSelect(t *testing.T) {
	for names, want := range map[string]int{"": len(Experiments()), "all": len(Experiments()), "messom": 4, "messom/table-3": 1, "intimg messom/table-3 intimg/table": 3} {
		got, err := Select(strings.Fields(names))
		if err != nil || len(got) != want {
			t.Errorf("%q is %d experiments, want %d: %v", names, len(got), want, err)
		}
	}
	for _, name := range []string{"messom/", "Messom", "messom/table-1", "tables"} {
		for _, names := range [][]string{{name}, {"all", name}, {name, "all"}} {
			if _, err := Select(names); err == nil || !strings.Contains(err.Error(), "bertazzini") {
				t.Errorf("%q: %v does not say what there is", names, err)
			}
		}
	}
}

// TestInterrupted tests that an interrupted run writes the measurements made until then.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls, page := 0, ""
	ready := func(r *Report) error { page, _ = texts(t, r); return nil }
	r, err := Run(ctx, Config{Names: []string{"messom"}, machine: pocl, Ready: ready, measure: func(ctx context.Context, specs []Spec) []Result {
		if calls++; calls == 4 {
			cancel()
			specs = specs[:1]
		}
		return invented(pocl)(ctx, specs)
	}})
	if !errors.Is(err, context.Canceled) || calls != 4 || !r.Interrupted {
		t.Fatalf("%v after %d calls", err, calls)
	}
	checkPage(t, page)
	for text, there := range map[string]bool{"Interrupted": true, "messom-table-2": true, "messom-table-3": true, "messom-table-4": false, "not measured": true} {
		if strings.Contains(page, text) != there {
			t.Errorf("that the page says %q should be %v", text, there)
		}
	}
}

// TestUnbelievable tests that implausible results are refused.
func TestUnbelievable(t *testing.T) {
	good := inventedReport(t, pocl, Config{Names: []string{"bilgic/table-1"}})
	for what, spoil := range map[string]func(*Result){
		"unverified": func(r *Result) { r.Verified = false },
		"wrong":      func(r *Result) { r.Wrong = true },
		"negative":   func(r *Result) { r.Median = -1 },
		"endless":    func(r *Result) { r.Mean = 1e308 },
		"kernel":     func(r *Result) { r.Each[0].Median = -1 },
		"runs":       func(r *Result) { r.Runs = -1 },
		"size":       func(r *Result) { r.Width = 0 },
	} {
		bad := *good
		bad.Results = slices.Clone(good.Results)
		bad.Results[0].Each = slices.Clone(bad.Results[0].Each)
		spoil(&bad.Results[0])
		for r, fine := range map[*Report]bool{good: true, &bad: false} {
			var b strings.Builder
			if err := r.writeJSON(&b); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(strings.NewReader(b.String())); (err == nil) != fine {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	for _, text := range []string{"[]", "5", `{"results": 5}`, `{"results": [{"width": "a"}]}`, "", "{"} {
		if _, err := Load(strings.NewReader(text)); err == nil || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWrongResult(t *testing.T) {
	_, err := Run(t.Context(), Config{Names: []string{"intimg/table"}, machine: pocl, measure: func(ctx context.Context, specs []Spec) []Result {
		results := invented(pocl)(ctx, specs)
		i := slices.IndexFunc(specs, func(s Spec) bool { return s.Algorithm == "intimg/gpu-v1" })
		results[i] = Result{Spec: specs[i], Wrong: true, Missing: "entry (3, 4) is 5 and not 6"}
		return results
	}})
	if err == nil || !strings.Contains(err.Error(), "intimg/gpu-v1") || !strings.Contains(err.Error(), "5 and not 6") {
		t.Errorf("a wrong result gives %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	for _, size := range []Size{sized(1<<20, 1<<20), sized(0, 5), sized(-1, 5)} {
		if _, err := Run(t.Context(), Config{Sizes: []Size{size}}); err == nil {
			t.Errorf("%v was measured", size)
		}
	}
}

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if _, err := NewWriter(dir); err == nil {
			t.Errorf("a report could be written to %s", dir)
		}
	}
}

// TestMeasured runs every experiment on small images, on OpenCL if available, and tests that all
// results are right.
func TestMeasured(t *testing.T) {
	device, err := gpu.OpenBest(gpu.CUDA, gpu.OpenCL)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	if device != nil {
		defer device.Close()
	}
	done := 0
	r, err := Run(t.Context(), Config{Device: device, Sizes: []Size{sized(67, 45)}, Repeat: 2, Quick: true, Progress: func(p Progress) {
		if p.Done < done || p.Done > p.Total {
			t.Errorf("from %d to %d of %d", done, p.Done, p.Total)
		}
		done = p.Done
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range r.Results {
		switch {
		case device == nil && r.GPU:
			if r.Missing != "no device" {
				t.Errorf("%v is missing because of %q", r.Spec, r.Missing)
			}
		case r.Missing != "" || r.Runs != 2 || !(r.Min > 0) || r.Min > r.Median || r.Median > r.Max || !r.Verified && r.Algorithm != DeviceCopy:
			t.Errorf("%+v", r)
		}
	}
	if !slices.ContainsFunc(r.Results, func(r Result) bool { return r.Table == "rotated" && r.Verified }) {
		t.Error("nothing was rotated")
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1.00", 9.996: "10.0", 99.96: "100", 0.00123456: "0.00123", 1234.5: "1235", 12345.6: "12,346", -2.5: "-2.50"} {
		if got := number(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	if number(math.NaN()) != "–" {
		t.Error("NaN is a number")
	}
}

// TestCommitted tests that the report in the documentation is what its results generate today.
func TestCommitted(t *testing.T) {
	const dir = "../../docs/reports/h200"
	f, err := os.Open(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	page, markdown := texts(t, r)
	if page != read(t, dir, "report.html") || markdown != read(t, dir, "report.md") {
		t.Error("stale: run go run ./cmd/boxsum reproduce --from docs/reports/h200/results.json -o docs/reports/h200")
	}
	for _, p := range r.document().Pictures {
		if !strings.Contains(page, read(t, dir, "plots", p.Name+".svg")) {
			t.Errorf("%s.svg is stale", p.Name)
		}
	}
}
