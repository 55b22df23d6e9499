package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/rotated"
)

// Deviations of a ramp from 0 to 1e7 with noise are right however they are asked for: of few
// boxes, of many, of a volume and along a rotation. Of saved tables they are
// right, or null.
func TestDeviationOfRamps(t *testing.T) {
	const width, height, depth = 120, 90, 6
	rng := rand.New(rand.NewPCG(1, 2))
	pixels, values := make([]float64, width*height*depth), make([]string, width*height*depth)
	for i := range pixels {
		pixels[i] = 1e7*float64(i%width)/width + rng.NormFloat64()
		values[i] = strconv.FormatFloat(pixels[i], 'g', -1, 64)
	}
	t.Chdir(t.TempDir())
	for name, dims := range map[string]string{"image.npy": "90x120", "volume.npy": "6x90x120"} {
		if err := npyMake(name, "f64", dims, values); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(args ...string) (answers []struct {
		Box []int
		Std *float64
	}) {
		t.Helper()
		var stdout, stderr strings.Builder
		if code := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Fatalf("%v: %s", args, &stderr)
		}
		if len(args) > 2 && args[0] == "query" {
			if err := json.Unmarshal([]byte(stdout.String()), &answers); err != nil {
				t.Fatal(err)
			}
		}
		return answers
	}
	few, many, solid := []string{"query", "image.npy", "--json"}, []string{"query", "image.npy", "--json"}, []string{"query", "--volume", "volume.npy", "--json"}
	for i := range 300 {
		x, y, z := rng.IntN(width-1), rng.IntN(height-1), rng.IntN(depth)
		right, down, back := x+2+rng.IntN(width-x-1), y+2+rng.IntN(height-y-1), z+1+rng.IntN(depth-z)
		if i%3 == 0 {
			right = x + 1 // noise alone
		}
		box := fmt.Sprintf("--box=%d,%d,%d,%d", x, y, right, down)
		if many = append(many, box); i < 3 {
			few = append(few, box)
		}
		solid = append(solid, fmt.Sprintf("--box=%d,%d,%d,%d,%d,%d", x, y, z, right, down, back))
	}
	ask("integrate", "image.npy", "--squares", "-o", "tables.npz")
	saved := append([]string{"query", "--table", "tables.npz", "--json"}, many[3:]...)
	turned := append(slices.Clone(few), "--rotate=1/2")
	refused := 0
	for _, args := range [][]string{few, many, solid, saved, turned} {
		for _, got := range ask(args...) {
			var sum, n, squares float64
			lattice, err := rotated.NewLattice(width, height, rotated.Rotation{A: 1, B: 2})
			if err != nil {
				t.Fatal(err)
			}
			inside := func(x, y, z int) bool {
				b := got.Box
				if len(b) == 6 {
					return x >= b[0] && y >= b[1] && z >= b[2] && x < b[3] && y < b[4] && z < b[5]
				}
				if args[len(args)-1] == "--rotate=1/2" {
					x, y = lattice.Cell(x, y)
				}
				return z == 0 && x >= b[0] && y >= b[1] && x < b[2] && y < b[3]
			}
			for pass := range 2 {
				mean := sum / n
				for i, p := range pixels {
					switch in := inside(i%width, i/width%height, i/width/height); {
					case in && pass == 0:
						sum, n = sum+p, n+1
					case in:
						squares += (p - mean) * (p - mean)
					}
				}
			}
			if n == 0 {
				continue
			}
			limit := 1e-6
			if args[1] == "--table" {
				limit = 1e-2
				if got.Std == nil {
					refused++
					continue
				}
			}
			if want := math.Sqrt(squares / n); got.Std == nil || math.Abs(*got.Std-want) > limit*want {
				t.Fatalf("%v: %v: deviation %v, want %v", args[:3], got.Box, got.Std, want)
			}
		}
	}
	if refused == 0 {
		t.Error("the noise of a ramp comes from saved tables")
	}
}
