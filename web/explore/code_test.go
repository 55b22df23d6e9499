package explore

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/pixels"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"
)

// ask sends a request.
func ask(t testing.TB, s *Session, request any, body []byte) (map[string]any, []byte) {
	t.Helper()
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	reply := s.Do(context.Background(), text, body)
	n := binary.LittleEndian.Uint32(reply)
	var v map[string]any
	if err := json.Unmarshal(reply[4:4+n], &v); err != nil {
		t.Fatalf("%s: %v", reply[4:4+n], err)
	}
	return v, reply[4+n:]
}

var numbers = regexp.MustCompile(`-?\d+(\.\d+)?([eE][+-]?\d+)?`)

// contains reports whether a text contains a number.
func contains(text string, want float64) bool {
	for _, n := range numbers.FindAllString(text, -1) {
		var got float64
		fmt.Sscan(n, &got)
		if got == want || math.Abs(got-want) <= 1e-6*math.Abs(want) {
			return true
		}
	}
	return false
}

// TestCode runs the code that the page shows, in all three languages, and compares its output with the numbers on the
// page. Python needs the package: BOXSUM_CODE_PYTHON names an interpreter that has it.
func TestCode(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program, which takes seconds: leave out -short")
	}
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// A store with a table, and one without.
	ctx := t.Context()
	for _, name := range []string{"large.zarr", "alone.zarr"} {
		bucket, err := zarr.OpenBucket(ctx, filepath.Join(dir, name), true)
		if err != nil {
			t.Fatal(err)
		}
		write(t, array(t, bucket, "", zarr.Uint8, 3, []int{4200, 4200}, []int{600, 600}), uint8(50), []int{900, 700}, []int{500, 500})
		bucket.Close()
	}
	if err := store.Integrate(ctx, filepath.Join(dir, "large.zarr"), filepath.Join(dir, "its table.zarr"), &store.Options{Squares: true, Compact: true}); err != nil {
		t.Fatal(err)
	}
	stores := WithTables(ctx, []Document{opened(t, filepath.Join(dir, "large.zarr")), opened(t, filepath.Join(dir, "its table.zarr")), opened(t, filepath.Join(dir, "alone.zarr"))})
	if len(stores) != 2 {
		t.Fatalf("%d stores", len(stores))
	}
	stores[0].(*stored).sums = "its table.zarr" // the programs run in that folder
	s := NewSession(&Library{Documents: []Document{Demo(), stores[0], stores[1]}}, Usual)
	var deep bytes.Buffer
	if err := imgio.WriteNPY(&deep, []int{3, 4, 5}, func(yield func([]uint16) bool) {
		for i := range 3 {
			row := make([]uint16, 20)
			for k := range row {
				row[k] = uint16(1000*i + 37*k)
			}
			yield(row)
		}
	}); err != nil {
		t.Fatal(err)
	}
	ask(t, s, map[string]any{"do": "open", "name": "deep.npy"}, deep.Bytes())
	type numbersOf func(v map[string]any) []float64
	first := func(keys ...string) numbersOf {
		return func(v map[string]any) (all []float64) {
			if list, ok := v["boxes"].([]any); ok {
				v = list[0].(map[string]any)
			}
			for _, k := range keys {
				switch x := v[k].(type) {
				case float64:
					all = append(all, x)
				case string:
					var f float64
					fmt.Sscan(x, &f)
					all = append(all, f)
				}
			}
			return all
		}
	}
	cases := []struct {
		request map[string]any
		want    numbersOf // expected in all three outputs; nil if a picture is made
	}{
		{map[string]any{"do": "boxes", "boxes": [][]int{{1050, 290, 1330, 570}, {0, 0, 7, 9}}}, first("sum", "mean", "std")},
		{map[string]any{"do": "boxes", "doc": ownFirst, "boxes": [][]int{{1, 0, 1, 4, 3, 3}}}, first("sum", "mean", "std")},
		{map[string]any{"do": "boxes", "doc": 1, "boxes": [][]int{{800, 850, 1333, 1200}, {0, 0, 4200, 4200}}}, first("sum", "mean")},
		{map[string]any{"do": "boxes", "doc": 2, "boxes": [][]int{{800, 850, 1333, 1200}, {750, 900, 900, 1000}}}, first("sum", "mean", "std")},
		{map[string]any{"do": "moments", "doc": 2, "box": []int{800, 850, 1333, 1200}}, first("m00")},
		{map[string]any{"do": "filter", "doc": 2, "method": "box", "radius": 5, "box": []int{600, 700, 1000, 950}}, nil},
		{map[string]any{"do": "filter", "doc": ownFirst, "z": 1, "method": "median", "radius": 1}, nil},
		{map[string]any{"do": "rotated", "rect": []float64{1190.5, 430, 300, 120, 26.6}}, first("sum", "mean", "area")},
		{map[string]any{"do": "feature", "kind": "LineX", "box": []int{1050, 290, 1330 - 1, 570}}, first("value")},
		{map[string]any{"do": "feature", "kind": "EdgeX", "box": []int{900, 500, 940, 520}, "ratio": "1/2"}, first("value")},
		{map[string]any{"do": "moments", "box": []int{1050, 290, 1330, 570}}, first("m00")},
		{map[string]any{"do": "match", "box": []int{1050, 290, 1330, 570}, "method": "zncc", "top": 2}, func(map[string]any) []float64 { return []float64{1050, 290} }},
		{map[string]any{"do": "detect", "cascade": "sun", "scale": 1.1, "neighbors": 3, "least": 100}, func(v map[string]any) []float64 {
			f := v["found"].([]any)[0].(map[string]any)
			return []float64{f["x"].(float64), f["y"].(float64), f["score"].(float64)}
		}},
		{map[string]any{"do": "threshold", "method": "sauvola", "window": 75, "k": 0.3}, nil},
		{map[string]any{"do": "threshold", "method": "bradley", "window": 31, "k": 12}, nil},
		{map[string]any{"do": "threshold", "method": "otsu", "window": 75}, nil},
		{map[string]any{"do": "filter", "method": "box", "radius": 9}, nil},
		{map[string]any{"do": "filter", "method": "gaussian", "sigma": 4.5}, nil},
		{map[string]any{"do": "filter", "method": "median", "radius": 4}, nil},
		{map[string]any{"do": "filter", "method": "guided", "radius": 8, "epsilon": 400}, nil},
		{map[string]any{"do": "filter", "method": "mean", "radius": 8}, nil},
		{map[string]any{"do": "filter", "method": "std", "radius": 8}, nil},
		{map[string]any{"do": "filter", "method": "normalize", "radius": 8}, nil},
		{map[string]any{"do": "filter", "method": "entropy", "radius": 3}, nil},
		{map[string]any{"do": "filter", "method": "percentile", "radius": 5, "percent": 90}, nil},
		{map[string]any{"do": "filter", "method": "equalize", "radius": 20}, nil},
		{map[string]any{"do": "filter", "method": "clahe", "clip": 2.5}, nil},
		{map[string]any{"do": "filter", "method": "denoise", "strength": 8}, nil},
	}
	var programs []string
	calls := ""
	codes := make([]map[string]any, len(cases))
	for i, c := range cases {
		v, _ := ask(t, s, map[string]any{"do": "code", "doc": c.request["doc"], "what": c.request}, nil)
		if v["error"] != nil {
			t.Fatalf("%v: %v", c.request, v["error"])
		}
		if codes[i] = v; v["save"] != nil { // save the file like the page
			_, data := ask(t, s, v["save"], nil)
			os.WriteFile(filepath.Join(dir, v["file"].(string)), data, 0o644)
		}
		text := strings.Replace(v["go"].(string), "func main()", fmt.Sprintf("func program%d()", i), 1)
		text = strings.ReplaceAll(text, "check(", fmt.Sprintf("check%d(", i))
		name := filepath.Join(dir, fmt.Sprintf("p%d.go", i))
		os.WriteFile(name, []byte(text), 0o644)
		programs = append(programs, name)
		calls += fmt.Sprintf("\tcase \"%d\":\n\t\tprogram%d()\n", i, i)
	}
	main := filepath.Join(dir, "main.go")
	os.WriteFile(main, []byte("package main\n\nimport \"os\"\n\nfunc main() {\n\tswitch os.Args[1] {\n"+calls+"\t}\n}\n"), 0o644)
	build := exec.Command("go", append([]string{"build", "-o", filepath.Join(dir, "programs"), main}, programs...)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the code in Go does not compile: %v\n%s", err, out)
	}
	build = exec.Command("go", "build", "-o", filepath.Join(dir, "boxsum"), "./cmd/boxsum")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	os.WriteFile(filepath.Join(dir, "sun.xml"), sun, 0o644)
	python := os.Getenv("BOXSUM_CODE_PYTHON")
	if python == "" {
		t.Log("BOXSUM_CODE_PYTHON names no Python with the package: its code is not run")
	}
	for i, c := range cases {
		v, _ := ask(t, s, c.request, nil)
		if v["error"] != nil {
			t.Errorf("%v: %v", c.request, v["error"])
			continue
		}
		var results [][]byte
		for language, cmd := range map[string]*exec.Cmd{
			"go": exec.Command(filepath.Join(dir, "programs"), fmt.Sprint(i)), "shell": exec.Command("sh", "-c", codes[i]["shell"].(string)), "python": exec.Command(python, "-c", codes[i]["python"].(string)),
		} {
			if language == "python" && python == "" || language == "shell" && strings.HasPrefix(codes[i]["shell"].(string), "python3") && python == "" {
				continue
			}
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+filepath.Dir(python)+string(os.PathListSeparator)+os.Getenv("PATH"))
			os.Remove(filepath.Join(dir, "result.npy"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v in %s: %v\n%s\n%s", c.request, language, err, out, codes[i][language])
				continue
			}
			if c.want != nil {
				for _, want := range c.want(v) {
					if !contains(string(out), want) {
						t.Errorf("%v in %s prints\n%s\nwant %v", c.request, language, out, want)
					}
				}
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, "result.npy"))
			if err != nil {
				t.Errorf("%v in %s: %v", c.request, language, err)
				continue
			}
			results = append(results, data)
			p, err := imgio.Decode(bytes.NewReader(data), imgio.ToGray)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := newPicture(context.Background(), "r", pixels.Of(p.Image))
			if err != nil {
				t.Fatal(err)
			}
			if v, mine := ask(t, s, c.request, nil); shown.info.Pixel == "uint8" {
				got := shown.plane.gray().Pix
				if v["format"] == "rgba" {
					if shown.info.Channels != 3 {
						t.Fatalf("%v in %s gives %d channels", c.request, language, shown.info.Channels)
					}
					for i := range len(mine) / 4 { // ignore alpha
						copy(mine[3*i:], mine[4*i:4*i+3])
					}
					mine = mine[:len(mine)/4*3]
				}
				if !bytes.Equal(got[:len(mine)], mine) {
					t.Errorf("%v in %s gives other pixels than the page", c.request, language)
				}
			}
			if !bytes.Equal(data, results[0]) {
				t.Errorf("%v in %s gives other pixels than another language", c.request, language)
			}
		}
	}
}
