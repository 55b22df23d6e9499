package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func exampleResults() []Result {
	c, size := Case{Types: "u8:u32", Channels: 3}, Size{Name: "1080p", Width: 1920, Height: 1080}
	var results []Result
	for i, name := range []string{"boxsum avx2", LimitFillRead, LimitFill, LimitCopy} {
		for workers := 1; workers <= 2; workers++ {
			r := newResult(name, nil, c, size, workers, 1, name == "boxsum avx2")
			r.Bytes = 31_000_000
			r.Repeat, r.Min = 15, float64(10-i)/float64(workers)
			r.Mean, r.Max = r.Min*1.5, r.Min*200
			r.Median, r.P95 = r.Min*1.25, r.Min*100
			results = append(results, r)
		}
	}
	return results
}

func TestWriteTable(t *testing.T) {
	var b strings.Builder
	if err := WriteTable(&b, exampleResults()); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"types          size             workers   best ms    median      GB/s  of limit",
		"u8:u32x3       1080p                  1     10.00     12.50       3.1       90%",
		"u8:u32x3       1080p                  2     5.000     6.250       6.2       90%",
		"",
	}, "\n")
	if got, _, _ := strings.Cut(b.String(), "\nThe limit"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPeersReport(t *testing.T) {
	c, size := Case{Types: "u8:u32", Channels: 3}, Size{Name: "1080p", Width: 1920, Height: 1080}
	ours := exampleResults()
	opencv := newResult("opencv 5.0.0", nil, c, size, 2, 1, true)
	opencv.Min, opencv.Median, opencv.P95 = 12.5, 13, 14
	var b strings.Builder
	r := &report{w: &b, lead: 14}
	r.headOf(c, func() []column { return peerColumns(c, 2) })
	r.row(size.Name, append(slices.Clone(ours), opencv))
	r.row("16384x16384", ours)
	want := strings.Join([]string{
		"",
		"u8:u32x3          boxsum  1 worker    OpenCV     ratio   ratio 1    median       p95  OpenCV median  OpenCV p95  fill+read  of limit  fill+read 1  of limit 1      fill      copy  scikit-image",
		"1080p              5.000     10.00     12.50      2.50      1.25     6.250     500.0          13.00       14.00      4.500       90%        9.000         90%     4.000     3.500             –",
		"16384x16384        5.000     10.00         –         –         –     6.250     500.0              –           –      4.500       90%        9.000         90%     4.000     3.500             –",
		"",
	}, "\n")
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestWriteErrors(t *testing.T) {
	if err := WriteTable(fullDisk{}, exampleResults()); !errors.Is(err, errFull) {
		t.Errorf("WriteTable gives %v", err)
	}
	if err := WriteJSON(fullDisk{}, nil); !errors.Is(err, errFull) {
		t.Errorf("WriteJSON gives %v", err)
	}
}

var errFull = errors.New("full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// TestJSON tests that JSON has exactly the keys that programs rely on.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, exampleResults()); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b.Bytes()))
	want := []string{"algorithm", "on", "types", "width", "height", "channels", "workers",
		"repeat", "mean_ms", "min_ms", "max_ms", "median_ms", "p95_ms", "bytes", "verified"}
	var objects []map[string]any
	if err := d.Decode(&objects); err != nil {
		t.Fatal(err)
	}
	if len(objects) != len(exampleResults()) {
		t.Errorf("%d objects", len(objects))
	}
	for _, o := range objects {
		if len(o) != len(want) || slices.ContainsFunc(want, func(k string) bool { _, ok := o[k]; return !ok }) {
			t.Errorf("the keys of %v are not %v", o, want)
		}
	}
	o := objects[0]
	if o["algorithm"] != "boxsum avx2" || o["on"] != "cpu" || o["types"] != "u8:u32" || o["channels"] != 3.0 || o["min_ms"] != 10.0 || o["verified"] != true {
		t.Errorf("wrong values: %v", o)
	}
	b.Reset()
	if err := WriteJSON(&b, nil); err != nil || b.String() != "[]\n" {
		t.Errorf("no results are %q, %v", b.String(), err)
	}
}
