package boxsum_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/boxsum/boxsum"

// below says which packages of the module each one may stand on, directly or
// not. Imports point down only; see ARCHITECTURE.md.
var below = map[string][]string{
	"internal/kernel":           {"internal/pairs"},
	"internal/grid":             {},
	"internal/pairs":            {},
	"internal/pairs/expand":     {"internal/pairs"},
	"internal/exact":            {"internal/kernel", "internal/pairs"},
	"internal/ref":              {"internal/kernel", "internal/pairs"},
	"internal/engine":           {"internal/exact", "internal/kernel", "internal/grid", "internal/pairs"},
	"":                          cpu[1:],
	"imgio":                     cpu,
	"rotated":                   cpu,
	"haar":                      slices.Concat(cpu, []string{"rotated"}),
	"internal/anyimage":         cpu,
	"internal/anytable":         slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "histogram", "internal/cascade", "internal/fourier", "internal/window", "match", "rotated", "threshold", "tilted", "volume"}),
	"internal/sketch":           slices.Concat(cpu, []string{"rotated", "haar"}),
	"tilted":                    cpu,
	"histogram":                 cpu,
	"moments":                   cpu,
	"volume":                    cpu,
	"internal/window":           {"internal/engine", "internal/exact", "internal/kernel", "internal/grid", "internal/pairs"},
	"filter":                    slices.Concat(cpu, []string{"histogram", "internal/window"}),
	"internal/fourier":          {"internal/engine", "internal/exact", "internal/kernel", "internal/grid", "internal/pairs"},
	"match":                     slices.Concat(cpu, []string{"internal/window", "internal/fourier"}),
	"threshold":                 slices.Concat(cpu, []string{"filter", "histogram", "internal/window"}),
	"internal/cascade":          {},
	"detect":                    slices.Concat(cpu, []string{"internal/cascade"}),
	"internal/page":             cpu,
	"internal/y4m":              {},
	"internal/launch":           {},
	"internal/plot":             {},
	"internal/cmdline":          {},
	"internal/fill":             {},
	"gpu/internal/dynamic":      {},
	"gpu/internal/cuda":         {"gpu/internal/dynamic"},
	"gpu/internal/opencl":       {"gpu/internal/dynamic"},
	"gpu/internal/kernels":      {"internal/launch", "internal/pairs"},
	"gpu/internal/driver":       slices.Concat(cpu, drivers),
	"gpu/internal/devmem":       slices.Concat(cpu, drivers, inside[:1]),
	"gpu/internal/method":       slices.Concat(cpu, drivers, inside[:2], []string{"histogram", "rotated", "internal/cascade", "internal/window"}),
	"gpu/internal/transfer":     slices.Concat(cpu, drivers, inside[:3], []string{"histogram", "rotated", "internal/cascade", "internal/window"}),
	"gpu/internal/launcher":     slices.Concat(cpu, drivers, inside[:2]),
	"gpu/internal/devtest":      slices.Concat(cpu, drivers, inside[:2]),
	"gpu":                       slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "histogram", "internal/cascade", "internal/fourier", "internal/window", "match", "rotated", "threshold", "tilted", "volume"}),
	"gpu/interop":               slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "histogram", "internal/cascade", "internal/fourier", "internal/window", "match", "rotated", "threshold", "tilted", "volume"}),
	"papers":                    slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "histogram", "internal/cascade", "internal/fourier", "internal/window", "match", "rotated", "threshold", "tilted", "volume"}),
	"internal/measure":          slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "histogram", "internal/anytable", "internal/cascade", "internal/fourier", "internal/window", "match", "papers", "rotated", "threshold", "tilted", "volume"}),
	"internal/reproduce":        slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "histogram", "internal/anytable", "imgio", "internal/cascade", "internal/fill", "internal/fourier", "internal/measure", "internal/plot", "internal/window", "match", "papers", "rotated", "threshold", "tilted", "volume"}),
	"internal/bench":            slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "histogram", "internal/anytable", "internal/cascade", "internal/fill", "internal/fourier", "internal/measure", "internal/plot", "internal/window", "match", "papers", "rotated", "threshold", "tilted", "volume"}),
	"internal/bench/filters":    slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "histogram", "internal/anytable", "internal/cascade", "internal/fourier", "internal/measure", "internal/window", "match", "papers", "rotated", "threshold", "tilted", "volume"}),
	"internal/cli":              slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "haar", "histogram", "imgio", "internal/anytable", "internal/bench", "internal/cascade", "internal/cmdline", "internal/fill", "internal/explore", "internal/fourier", "internal/measure", "internal/plot", "internal/reproduce", "internal/sketch", "internal/view", "internal/window", "internal/y4m", "match", "moments", "papers", "rotated", "store", "store/web", "threshold", "tilted", "volume"}),
	"cmd/boxsum":                slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "haar", "histogram", "imgio", "internal/anytable", "internal/bench", "internal/cascade", "internal/cmdline", "internal/fill", "internal/cli", "internal/explore", "internal/fourier", "internal/measure", "internal/plot", "internal/reproduce", "internal/sketch", "internal/view", "internal/window", "internal/y4m", "match", "moments", "papers", "rotated", "store", "store/web", "threshold", "tilted", "volume"}),
	"python/clib":               slices.Concat(cpu, drivers, inside, []string{"detect", "filter", "gpu", "gpu/interop", "haar", "histogram", "imgio", "internal/cascade", "internal/fourier", "internal/window", "match", "moments", "rotated", "store", "threshold", "tilted", "volume"}),
	"store":                     slices.Concat(cpu, []string{"filter", "histogram", "imgio", "internal/window", "volume"}),
	"internal/explore":          explored,
	"internal/explore/wasm":     slices.Concat(explored, []string{"internal/explore"}),
	"internal/view":             slices.Concat(explored, []string{"internal/explore"}),
	"internal/view/site":        slices.Concat(explored, []string{"internal/explore", "internal/view"}),
	"store/web":                 slices.Concat(cpu, []string{"filter", "histogram", "imgio", "internal/window", "store", "volume"}),
	"docs/throughput":           {},
	"docs/picture":              slices.Concat(cpu, []string{"histogram", "imgio", "moments", "rotated", "haar", "internal/sketch", "filter", "internal/window", "threshold", "match", "internal/fourier", "internal/page"}),
	"gpu/internal/kernels/jobs": {},
	"gpu/internal/kernels/pack": {"gpu/internal/kernels", "internal/launch", "internal/pairs"},
}

// Programs look for no methods by name, as packages of templates do: where one does, the linker keeps every method of every type,
// and the command is an eighth larger.
func TestNoMethodsByName(t *testing.T) {
	deps := func(packages ...string) []string {
		cmd := exec.Command("go", append([]string{"list", "-deps"}, packages...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // which Python's library takes; to list it takes no compiler
		list, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(list))
	}
	for _, name := range deps("./cmd/boxsum", "./python/clib") {
		if name == "text/template" || name == "html/template" || name == "github.com/alecthomas/kong" {
			t.Errorf("a program has %s: internal/fill and internal/cmdline are there instead", name)
		}
	}
	if slices.Contains(deps("./python/clib"), "net/http") {
		t.Error("Python's library has net/http, which is an eighth of it: Python itself reads URLs for it")
	}
}

// explored is what the explorer shows.
var explored = slices.Concat(cpu, []string{"detect", "filter", "haar", "histogram", "imgio", "internal/cascade", "internal/fourier", "internal/window", "match", "moments", "rotated", "store", "threshold", "volume"})

// cpu is the root package and what it stands on, drivers what the GPU's package does
// besides, and inside what is in it: each stands on those before it.
var (
	cpu     = []string{"", "internal/engine", "internal/exact", "internal/kernel", "internal/grid", "internal/pairs", "internal/anyimage"}
	drivers = []string{"gpu/internal/dynamic", "gpu/internal/cuda", "gpu/internal/opencl", "gpu/internal/kernels", "gpu/internal/kernels/jobs", "internal/launch"}
	inside  = []string{"gpu/internal/driver", "gpu/internal/devmem", "gpu/internal/method", "gpu/internal/transfer", "gpu/internal/launcher"}
)

func TestImportsPointDown(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps,Standard", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	type listed struct {
		ImportPath string
		Imports    []string
		Deps       []string
		Standard   bool
	}
	standard := map[string]bool{"C": true}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		standard[p.ImportPath] = p.Standard
		packages = append(packages, p)
	}
	for _, p := range packages {
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		name = strings.TrimPrefix(name, "/")
		if strings.HasPrefix(name, "examples/") { // what readers copy
			for _, dep := range p.Imports {
				if strings.Contains(dep, "internal/") || !standard[dep] && !strings.HasPrefix(dep, module) {
					t.Errorf("package %q may not import %q: examples use public packages only", name, dep)
				}
			}
			continue
		}
		allowed, known := below[name]
		if !known {
			t.Errorf("package %q is not in the picture: add it here and to ARCHITECTURE.md", name)
		}
		for _, dep := range p.Deps {
			if rest, ours := strings.CutPrefix(dep, module); ours {
				if dep := strings.TrimPrefix(rest, "/"); !slices.Contains(allowed, dep) {
					t.Errorf("package %q may not stand on %q", name, dep)
				}
			} else if light := !slices.Contains(allowed, "gpu") && !slices.Contains(allowed, "store") && (name == "" || strings.HasPrefix(name, "internal/")); light && !standard[dep] && !strings.HasPrefix(dep, "golang.org/x/") {
				t.Errorf("package %q may not need %q: only the standard library and golang.org/x", name, dep)
			}
		}
	}
}
