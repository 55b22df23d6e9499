package cli

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"
)

// Damaged files and absurd numbers leave with an error that says something, and without a
// file; never with a panic.
func TestAbsurdFilters(t *testing.T) {
	rng := rand.New(rand.NewPCG(ref.Seed(t, 18), 500))
	folder := t.TempDir()
	gray := image.NewGray(image.Rect(0, 0, 23, 17))
	for i := range gray.Pix {
		gray.Pix[i] = uint8(rng.Uint32())
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, gray); err != nil {
		t.Fatal(err)
	}
	pgm := append([]byte("P5\n23 17\n255\n"), gray.Pix...)
	good := filepath.Join(folder, "good.png")
	if err := os.WriteFile(good, encoded.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	number := func() string {
		return pick("0", "-1", "1", "3", "NaN", "Inf", "-Inf", "1e300", "x", "", "99999999999999999999")
	}
	side := func() string { return pick("0", "-3", "1", "5x0", "5x", "x", "1000000x1000000", "3", "4", "NaN") }
	failed, all := 0, 0
	for i := range ref.Trials(t, 200) {
		all++
		in := good
		if i%2 == 0 { // a part of a file, or one with other bytes
			name, data := "bad.png", bytes.Clone(encoded.Bytes())
			if i%4 == 0 {
				name, data = "bad.pgm", bytes.Clone(pgm)
			}
			if data = data[:rng.IntN(len(data)+1)]; rng.IntN(3) > 0 && len(data) > 0 {
				data[rng.IntN(min(len(data), 60))] ^= 1 << rng.IntN(8)
			}
			in = filepath.Join(folder, name)
			if err := os.WriteFile(in, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(folder, fmt.Sprint("out", i, pick(".png", ".npy", ".tiff", ".pbm", ".gif", "")))
		var args []string
		switch i % 5 {
		case 0:
			args = []string{"blur", in, "-o", out, pick("--radius", "--sigma", "--window"), pick(number(), side())}
		case 1:
			args = []string{"blur", in, "-o", out, "--radius", "2", "--border", pick("clip", "wrap", "none", ""), "--passes", number()}
		case 2:
			args = []string{"local", in, "-o", out, pick("--mean", "--std", "--normalize", "--median", "--entropy", "--guided"), "--window", side(), "--epsilon", number()}
		case 3:
			args = []string{"threshold", in, "-o", out, "--method", pick("sauvola", "su", "wolf", "bradley", "none", ""), "--window", side(), "--k", number()}
		default:
			args = []string{"compare", in, pick(in, good, out)}
		}
		var said bytes.Buffer
		code := run(context.Background(), args, strings.NewReader(""), io.Discard, &said)
		if code == 0 {
			os.Remove(out)
			continue
		}
		failed++
		if code != 1 && code != 2 || said.Len() < 20 || strings.Contains(said.String(), "goroutine") {
			t.Errorf("%q left with %d: %s", args, code, &said)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q failed and left a file", args)
		}
	}
	if failed < all/2 {
		t.Errorf("only %d of %d failed", failed, all)
	}
}
