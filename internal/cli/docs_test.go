package cli

import (
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/internal/ref"
)

// notRun are lines of documents that need what a test has not: other programs, GPUs, servers, clouds, or minutes.
var notRun = regexp.MustCompile(`ffmpeg|tesseract|--on |boxsum bench --(on|types)|boxsum bench$|reproduce (all|\S+ -)|boxsum view|s3://|gs://|https?://|az://`)

// TestDocuments runs every line of README and docs that begins with boxsum, as it is printed and in order.
func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a hundred commands, which takes seconds: leave out -short")
	}
	ref.Program(t, "install it", "bash")
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{"README.md"}
	err = filepath.WalkDir(filepath.Join(top, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			page, _ := filepath.Rel(top, path)
			pages = append(pages, filepath.ToSlash(page))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cascades := os.Getenv("BOXSUM_CASCADES") != ""
	if _, err := os.Stat("/usr/share/opencv4/haarcascades"); err == nil {
		cascades = true
	}
	if os.Getenv("CI") == "true" { // which runs every line
		ref.CascadeFolder(t)
	}
	files := t.TempDir()
	samples(t, files)
	opencv := "" // an interpreter that has OpenCV's coefficients
	if os.Getenv("CI") == "true" || os.Getenv("BOXSUM_CASCADES_PYTHON") != "" {
		opencv = ref.Cascades(t)
		save := exec.Command(opencv, "-c", "import cv2; h = cv2.HOGDescriptor(); h.setSVMDetector(h.getDefaultPeopleDetector()); h.save('people.xml')")
		save.Dir = files
		if out, err := save.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	ran := 0
	for _, page := range pages {
		lines := shellLines(t, filepath.Join(top, page))
		if len(lines) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(files)); err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				if notRun.MatchString(line) || strings.Contains(line, "--cascade") && !cascades || strings.Contains(line, "--hog") && opencv == "" {
					continue
				}
				cmd := exec.Command("bash", "-c", line)
				cmd.Dir = folder
				if opencv != "" { // boxsum asks the active virtual environment first
					cmd.Env = append(os.Environ(), "VIRTUAL_ENV="+filepath.Dir(filepath.Dir(opencv)))
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s\n%v: %s", line, err, out)
				}
				ran++
			}
		})
	}
	if ran < 40 {
		t.Errorf("only %d commands were found", ran)
	}
}

// shellLines are the indented lines of a document, outside of fences, that run boxsum.
func shellLines(t *testing.T, page string) (lines []string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fenced := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if command, ok := strings.CutPrefix(line, "    "); ok && !fenced && (strings.HasPrefix(command, "boxsum ") || strings.Contains(command, "| boxsum ")) {
			lines = append(lines, command)
		}
	}
	return lines
}

// samples are the files that documents speak of.
func samples(t *testing.T, folder string) {
	t.Helper()
	demo := imgio.Demo(640, 480)
	at := func(name string) string { return filepath.Join(folder, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"photo.png", "scan.png", "noisy.png", "peppered.png", "dark.png", "page.png", "mask.png", "stained.png", "xray.png", "cells.png"} {
		must(imgio.Save(at(name), demo))
	}
	part := boxsum.Image[uint8]{Width: 40, Height: 30, Stride: demo.Width, Pix: demo.Pix[100*demo.Width+300:]}
	must(imgio.Save(at("big.tif"), demo))
	must(os.Mkdir(at("tiles"), 0o755))
	for _, name := range []string{"1_1.png", "1_2.png", "2_1.png", "2_2.png"} {
		must(imgio.Save(at(filepath.Join("tiles", name)), demo))
	}
	must(os.WriteFile(at("mosaic.vrt"), []byte(`<VRTDataset rasterXSize="640" rasterYSize="480"><VRTRasterBand dataType="Byte" band="1"><SimpleSource>
		<SourceFilename relativeToVRT="1">big.tif</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>`), 0o600))
	for _, name := range []string{"logo.png", "letter.png"} {
		must(imgio.Save(at(name), part))
	}
	gray, err := imgio.ToImage(demo)
	must(err)
	for _, name := range []string{"photo.jpg", "scan.jpg", "a.jpg", "night.jpg", "street.jpg"} {
		file, err := os.Create(at(name))
		must(err)
		must(jpeg.Encode(file, gray, nil))
		must(file.Close())
	}
	truth := image.NewPaletted(image.Rect(0, 0, 640, 480), color.Palette{color.White, color.Black})
	for i := range truth.Pix {
		truth.Pix[i] = uint8(i / 7 % 2)
	}
	file, err := os.Create(at("truth.png"))
	must(err)
	must(png.Encode(file, truth))
	must(file.Close())
	depth := boxsum.Image[float32]{Width: 80, Height: 80, Pix: make([]float32, 80*80)}
	must(imgio.Save(at("depth.npy"), depth))
	must(imgio.Save(at("sar.npy"), depth))
	must(os.Mkdir(at("slices"), 0o755))
	for _, name := range []string{"1.png", "2.png", "3.png"} {
		must(imgio.Save(at(filepath.Join("slices", name)), demo))
	}
	must(imgio.WriteFile(at("scan.npy"), func(w io.Writer) error {
		return imgio.WriteNPY(w, []int{3, 480, 640}, func(yield func([]uint8) bool) {
			for range 3 {
				if !yield(demo.Pix) {
					return
				}
			}
		})
	}))
	must(os.MkdirAll(at("docs/images"), 0o755))
	for _, name := range []string{"docs/images/page.png", "docs/images/people.png"} {
		picture, err := os.ReadFile(filepath.Join("../..", name))
		must(err)
		must(os.WriteFile(at(name), picture, 0o600))
	}
	pages, err := os.ReadFile("testdata/pages.tiff")
	must(err)
	must(os.WriteFile(at("scan.tiff"), pages, 0o600))
}
