package boxsum_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Pages whose blocks are compiled and not run, for they need files of their own, and those that are left out, for
// they are about devices: package gpu has examples, which run.
var (
	compiledOnly = []string{"detect.md", "store.md", "haar.md", "volume.md"}
	leftOut      = []string{"gpu.md", "performance.md"}
)

// given is what the blocks of documents take as known.
const given = `
var (
	ctx      = context.Background()
	img      = imgio.Demo(640, 480)
	photo    = func() image.Image { i, err := imgio.ToImage(img); check(err); return i }()
	next     = imgio.Demo(640, 480)
	frame    = next
	frames   = []boxsum.Image[uint8]{img, next}
	frame1, frame2 = img, next
	pixels   = imgio.Demo(1920, 1080).Pix
	template = boxsum.Image[uint8]{Width: 40, Height: 30, Stride: 640, Pix: img.Pix[64300:]}
	radii    = boxsum.Image[uint8]{Width: 640, Height: 480, Pix: make([]uint8, 640*480)}
	depth    = boxsum.Image[float32]{Width: 640, Height: 480, Pix: make([]float32, 640*480)}
	mask     = radii
	box      = image.Rect(10, 20, 110, 220)
	boxes    = []image.Rectangle{box, image.Rect(0, 0, 64, 64)}
	cascade  = "/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"
	model    = make([]uint32, 32)
	means, deviations = make([]float64, 2), make([]float64, 2)
	sums     = make([]uint32, 2)
	voxels   []uint8
	slice    boxsum.Image[uint16]
	scan     = photo
	truth    = boxsum.Image[uint8]{Width: 640, Height: 480, Pix: make([]uint8, 640*480)}
	face     *detect.Cascade
	opt      *detect.Options
	err      error
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`

// TestDocumentsGo compiles every block of Go in README and docs as it is printed, and runs those that need no more
// than pictures. A block is the inside of a function: a statement that declares begins a scope of its own, so that
// a block may show two ways to get the same variable.
func TestDocumentsGo(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a program")
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	cascades := true
	if _, err := os.Stat("/usr/share/opencv4/haarcascades"); err != nil {
		cascades = false
	}
	var bodies, calls strings.Builder
	n := 0
	for _, page := range slices.Concat([]string{"README.md"}, pages) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllStringSubmatch(string(text), -1) {
			if slices.Contains(leftOut, filepath.Base(page)) || strings.HasPrefix(found[1], "package ") || strings.Contains(found[1], "…") || strings.Contains(found[1], "\n\t...") {
				continue // a whole program, or one with gaps
			}
			n++
			fmt.Fprintf(&bodies, "// %s\nfunc block%d() {\n%s}\n\n", page, n, scopes(t, page, found[1]))
			if !slices.Contains(compiledOnly, filepath.Base(page)) && (cascades || !strings.Contains(found[1], "cascade")) {
				fmt.Fprintf(&calls, "\tblock%d()\n", n)
			}
		}
	}
	source := given + "\nfunc main() {\n\tcheck(os.Chdir(os.Args[1]))\n\tcheck(imgio.Save(\"photo.png\", img))\n\tcheck(zarr())\n" + calls.String() + "}\n" + `
func zarr() error { // photo.zarr
	bucket := store.Folder("photo.zarr")
	a, err := store.CreateArray(ctx, bucket, "", &store.Spec{Type: store.Uint8, Shape: []int{480, 640}, Chunk: []int{256, 256}})
	if err != nil {
		return err
	}
	return store.Write(ctx, a, img.Pix, []int{0, 0}, []int{480, 640})
}

` + bodies.String()
	imports := "\t\"os\"\n"
	for name, path := range map[string]string{"context": "context", "image": "image", "fmt": "fmt", "errors": "errors", "boxsum": "", "filter": "filter", "threshold": "threshold", "match": "match", "detect": "detect",
		"histogram": "histogram", "moments": "moments", "rotated": "rotated", "tilted": "tilted", "haar": "haar", "volume": "volume", "store": "store", "gpu": "gpu", "interop": "gpu/interop", "imgio": "imgio", "papers": "papers"} {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(source) {
			if path != name || !slices.Contains([]string{"context", "image", "fmt", "errors"}, name) {
				path = strings.TrimSuffix(module+"/"+path, "/")
			}
			imports += fmt.Sprintf("\t%q\n", path)
		}
	}
	folder := t.TempDir()
	top, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	generated, overlay := filepath.Join(folder, "main.go"), filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(generated, []byte("package main\n\nimport (\n"+imports+")\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(top, "internal", "docblocks", "main.go"): generated}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	out, err := exec.Command("go", "run", "-overlay", overlay, "./internal/docblocks", work).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n < 20 {
		t.Errorf("only %d blocks were found", n)
	}
}

// scopes puts each statement that declares into a scope of its own, uses what it declares, and checks errors.
func scopes(t *testing.T, page, block string) string {
	files := token.NewFileSet()
	const head = "package p\nfunc _() {\n"
	parsed, err := parser.ParseFile(files, page, head+block+"\n}", 0)
	if err != nil {
		t.Errorf("%v\n%s", err, block)
		return ""
	}
	var out strings.Builder
	open := 0
	text := head + block
	for _, statement := range parsed.Decls[0].(*ast.FuncDecl).Body.List {
		code := text[files.Position(statement.Pos()).Offset:min(len(text), files.Position(statement.End()).Offset)]
		assign, ok := statement.(*ast.AssignStmt)
		if ok && assign.Tok == token.DEFINE {
			out.WriteString("{\n")
			open++
		}
		out.WriteString(code + "\n")
		if !ok {
			continue
		}
		for _, left := range assign.Lhs {
			if name, ok := left.(*ast.Ident); ok && name.Name == "err" {
				out.WriteString("check(err)\n")
			} else if ok && name.Name != "_" {
				out.WriteString("_ = " + name.Name + "\n")
			}
		}
	}
	return out.String() + strings.Repeat("}\n", open)
}
