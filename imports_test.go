package boxsum_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/boxsum/boxsum"

// layers lists the packages of the module from the bottom up, including all packages in
// their folders. A package may import packages of its own layer and of those before.
var layers = []string{
	"internal/raster internal/cascade internal/oriented internal/launch lab/plot internal/y4m docs/reports",
	"internal/kernel internal/stats internal/ref internal/device",
	"internal/engine internal/window internal/fourier internal/bins internal/moment internal/filters internal/rank internal/thresholds internal/matching internal/quality internal/enhance internal/denoise internal/boxlets internal/objects",
	". internal/pixels",
	"tilted rotated volume histogram moments products haar imgio internal/page internal/sketch internal/fixture zarr",
	"filter rank threshold match detect hog quality enhance denoise boxlets store/sources",
	"store gpu internal/typed",
	"papers lab",
	"web",
	"internal/cli cmd python docs examples",
}

// layerOf returns the index of the layer of a package, or -1 if it is in none.
func layerOf(name string) int {
	best, length := -1, 0
	for i, layer := range layers {
		for _, folder := range strings.Fields(layer) {
			if (name == folder || strings.HasPrefix(name, folder+"/")) && len(folder) > length {
				best, length = i, len(folder)
			}
		}
	}
	return best
}

func TestImportsPointDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	standard := map[string]bool{"C": true}
	imports := map[string][]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
			Standard   bool
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		standard[p.ImportPath] = p.Standard
		if name, ours := local(p.ImportPath); ours {
			imports[name] = p.Imports
		}
	}
	root := layerOf(".")
	for name, deps := range imports {
		layer := layerOf(name)
		if layer < 0 {
			t.Errorf("package %s is in no layer: add it to layers", name)
		}
		example := strings.HasPrefix(name, "examples/")
		for _, dep := range deps {
			dep, ours := local(dep)
			switch {
			case ours && layerOf(dep) > layer:
				t.Errorf("package %s imports %s, which is in a layer above it", name, dep)
			case ours && strings.HasPrefix(name, "zarr") && dep != "zarr" && dep != "internal/raster" && layerOf(dep) != layerOf("internal/kernel"):
				t.Errorf("package %s imports %s: it knows no tables, only internal/raster and kernels", name, dep)
			case ours && example && strings.Contains(dep, "internal/"):
				t.Errorf("package %s imports %s: readers cannot copy that", name, dep)
			case !ours && !standard[dep] && (layer <= root || example) && !strings.HasPrefix(dep, "golang.org/x/"):
				t.Errorf("package %s imports %s: up to the root package and in examples only the standard library and golang.org/x", name, dep)
			}
		}
	}
}

// local returns the path of a package inside the module, "." for the root.
func local(path string) (name string, ours bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}
