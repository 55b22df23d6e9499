package boxsum_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gpuPage is the page whose blocks need a device.
const gpuPage = "docs/guides/gpu.md"

// before holds declarations that a page's blocks need in addition to given, or that replace those of given. The blocks
// of the first two pages run only if the cascades exist, those of gpuPage only with a device.
var before = map[string]string{
	"docs/guides/faces.md":         "img, frame := faces, faces\nphoto, err := imgio.ToImage(faces)\ncheck(err)\n_, _, _ = img, frame, photo\n",
	"docs/guides/haar-features.md": "plane, err := haar.Upright[int64](upright, 0)\ncheck(err)\n_ = plane\n",
	gpuPage:                        "if d == nil {\nreturn\n}\nsums := sums[:1]\n_ = sums\n",
}

// shown replaces parts of blocks that cannot run as printed: elisions, volumes of gigabytes, and the best GPU, for which
// an OpenCL processor stands in.
var shown = strings.NewReplacer("gpu.OpenBest()", "gpu.OpenAll()", "{ … }", "{ _ = f }", "\t...\n", "\tcheck(err)\n_ = table\n", "\n...\n", "\n",
	"Width: 512, Height: 512, Depth: 300", "Width: 128, Height: 256, Depth: 140", "gpu.Pipeline[uint32](ctx, d, images,", "gpu.Pipeline[uint32](ctx, d, slices.Values(frames),")

// printed matches a line that prints, with its output in a comment.
var printed = regexp.MustCompile(`fmt\.Println\(.*\) // (.+)`)

// given declares what the blocks of documents assume.
const given = `
var (
	ctx      = context.Background()
	img      = imgio.Demo(640, 480)
	photo    = func() image.Image { i, err := imgio.ToImage(img); check(err); return i }()
	next     = imgio.Demo(640, 480)
	frame    = next
	frames   = []boxsum.Image[uint8]{img, next}
	frame1, frame2 = img, next
	original, copied, soft = img, next, next
	pixels   = imgio.Demo(1920, 1080).Pix
	template = boxsum.Image[uint8]{Width: 40, Height: 30, Stride: 640, Pix: slices.Clone(img.Pix[64300:])} // some blocks write over img
	radii    = boxsum.Image[uint8]{Width: 640, Height: 480, Pix: make([]uint8, 640*480)}
	depth    = boxsum.Image[float32]{Width: 640, Height: 480, Pix: make([]float32, 640*480)}
	mask     = radii
	box      = image.Rect(10, 20, 110, 220)
	boxes    = []image.Rectangle{box, image.Rect(0, 0, 64, 64)}
	cascade  = "/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"
	model    = make([]uint32, 32)
	means, deviations = make([]float64, 2), make([]float64, 2)
	sums     = make([]uint32, 2)
	voxels   = make([]uint8, 128*256*140)
	slice    = boxsum.Image[uint16]{Width: 2048, Height: 2048, Pix: make([]uint16, 2048*2048)}
	scan     = photo
	truth    = boxsum.Image[uint8]{Width: 640, Height: 480, Pix: make([]uint8, 640*480)}
	letter   = template
	windows  = []image.Point{{}, {X: 100, Y: 80}}
	counts   = make([]uint32, 64)
	upright  = func() *boxsum.Table[uint32] { t, err := boxsum.Integrate[uint32](img, nil); check(err); return t }()
	faces    boxsum.Image[uint8]
	face     *detect.Cascade
	people   = func() *hog.Descriptor { d, err := hog.New(hog.Config{Coefficients: append(make([]float32, 3780), -1)}); check(err); return d }()
	opt      *detect.Options
	d        *gpu.Device
	images, pages *gpu.Image[uint8]
	err      error
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`

// documents returns README.md and every page below docs.
func documents(t *testing.T) []string {
	pages := []string{"README.md"}
	err := filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			pages = append(pages, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestLinks checks that every link from a document of the repository to another file has a target, and every anchor a
// heading.
func TestLinks(t *testing.T) {
	pages := documents(t)
	for _, pattern := range []string{"*.md", "notes/*.md", "examples/*.md", "python/*.md", ".github/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	fences := regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	links := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headings := regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped := regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links.FindAllStringSubmatch(fences.ReplaceAllString(string(text), ""), -1) {
			name, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(name, ":") || name == "../explore/index.html" { // make site writes the explorer
				continue
			}
			file := page
			if name != "" {
				file = filepath.Join(filepath.Dir(page), name)
			}
			target, err := os.ReadFile(file)
			if err != nil {
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s links to %s, which is not there", page, link[1])
				}
				continue
			}
			found := anchor == ""
			for _, heading := range headings.FindAllStringSubmatch(string(target), -1) {
				id := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")
				found = found || id == anchor
			}
			if !found {
				t.Errorf("%s links to %s, which has no such heading", page, link[1])
			}
		}
	}
}

// TestDocumentsGo compiles every block of Go in README and docs as printed, and runs it, each page in a folder of its
// own. A block is the body of a function. Every statement that declares a variable begins a new scope, so that a block
// can show two ways to declare the same variable.
func TestDocumentsGo(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program, which takes seconds: leave out -short")
	}
	top, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	cascade := "/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"
	if _, err := os.Stat(cascade); err != nil {
		if os.Getenv("CI") == "true" { // which runs every block
			t.Fatal(err)
		}
		cascade = ""
	}
	var bodies, calls strings.Builder
	prints := map[string]string{}
	n := 0
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&calls, "\tcheck(folder(%q))\n", strings.ReplaceAll(page, "/", "-"))
		for _, found := range regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllStringSubmatch(string(text), -1) {
			block := shown.Replace(found[1])
			for _, line := range printed.FindAllStringSubmatch(block, -1) {
				prints[line[1]] = page
			}
			if strings.HasPrefix(block, "package ") { // a whole program: what its main does
				_, block, _ = strings.Cut(block, "\nfunc main() {\n")
				block = strings.TrimSuffix(block, "}\n")
			}
			n++
			fmt.Fprintf(&bodies, "// %s\nfunc block%d() {\n%s%s}\n\n", page, n, before[page], scopes(t, page, block))
			if cascade != "" || !strings.Contains(block, "cascade") && page != "docs/guides/faces.md" {
				fmt.Fprintf(&calls, "\tblock%d()\n", n)
			}
		}
	}
	source := given + "\nfunc main() {\n\tcheck(os.Chdir(os.Args[1]))\n\tcheck(open())\n" + calls.String() + "}\n" + fmt.Sprintf(`
// open loads the cascade and the faces, and opens a device, where there are such.
func open() (err error) {
	if name := %q; name != "" {
		if face, err = detect.LoadFile(name); err != nil {
			return err
		}
	}
	if faces, _, err = imgio.OpenImage[uint8](%q, imgio.Options{Color: imgio.ToGray}); err != nil {
		return err
	}
	if d, err = gpu.OpenAll(); errors.Is(err, gpu.ErrNoDevice) {
		fmt.Println("no device")
		return nil
	} else if err != nil {
		return err
	}
	if images, err = gpu.Upload(d, img); err != nil {
		return err
	}
	pages, err = gpu.Upload(d, img)
	return err
}

// folder prepares the working directory for the blocks of a page, with photo.png, people.xml, photo.zarr and image.zarr.
func folder(page string) error {
	page = os.Args[1] + "/" + page
	if err := os.Mkdir(page, 0o755); err != nil {
		return err
	}
	if err := os.Chdir(page); err != nil {
		return err
	}
	if err := imgio.Save("photo.png", img); err != nil {
		return err
	}
	if err := imgio.WriteFile("people.xml", func(w io.Writer) error { return people.Save(w, hog.XML, "people") }); err != nil {
		return err
	}
	for _, name := range []string{"photo.zarr", "image.zarr"} {
		a, err := zarr.Create(ctx, zarr.Folder(name), "", &zarr.Spec{Type: zarr.Uint8, Shape: []int{480, 640}, Chunk: []int{256, 256}})
		if err == nil {
			err = zarr.Write(ctx, a, img.Pix, []int{0, 0}, []int{480, 640})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

`, cascade, filepath.Join(top, "docs", "images", "people.png")) + bodies.String()
	imports := "\t\"os\"\n"
	paths := map[string]string{}
	for _, path := range []string{"context", "errors", "fmt", "image", "io", "log", "slices"} {
		paths[path] = path
	}
	for _, folder := range publicPackages(t) {
		paths[path.Base(strings.Replace(folder, ".", "boxsum", 1))] = path.Join(module, folder)
	}
	for name, path := range paths {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(source) {
			imports += fmt.Sprintf("\t%q\n", path)
		}
	}
	folder := t.TempDir()
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
	for line, page := range prints {
		if !strings.Contains(string(out), line+"\n") && (page != gpuPage || !strings.Contains(string(out), "no device")) {
			t.Errorf("%s says that a program prints %q", page, line)
		}
	}
	t.Logf("%d blocks\n%s", n, out)
	if n < 40 {
		t.Errorf("only %d blocks were found", n)
	}
}

// scopes puts each declaring statement into a scope of its own, uses what it declares, and checks errors.
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
