// Command textlines finds the lines of text on a rotated page without rotating the page: a table along a
// rotation a/b gives the ink of any strip at that angle.
//
//	go run ./examples/textlines page.png
//
// It prints the angle and, for each line, its center, length, height and angle in the form that
// `boxsum query --rect` accepts.
package main

import (
	"fmt"
	"math"
	"os"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/imgio"
	"github.com/boxsum/boxsum/rotated"
	"github.com/boxsum/boxsum/threshold"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: textlines PAGE")
		os.Exit(2)
	}
	page, file, err := imgio.OpenImage[uint8](os.Args[1], imgio.Options{Color: imgio.ToGray})
	if err != nil {
		fmt.Fprintln(os.Stderr, "textlines:", err)
		os.Exit(1)
	}
	defer file.Close()
	angle, lines, err := find(page)
	if err != nil {
		fmt.Fprintln(os.Stderr, "textlines:", err)
		os.Exit(1)
	}
	fmt.Printf("%d lines at %.2f° (%s)\n", len(lines), angle.Degrees(), angle)
	for _, l := range lines {
		fmt.Printf("%.1f,%.1f,%.1f,%.1f,%.2f\n", l.X, l.Y, l.Width, l.Height, l.Degrees)
	}
}

// find tries angles up to 45° and chooses the one whose rows differ most in their amount of ink: along the lines
// of text, rows are either full or empty.
func find(page boxsum.Image[uint8]) (rotated.Rotation, []rotated.Rectangle, error) {
	ink, err := threshold.Binarize(page, threshold.New(threshold.Sauvola, 31), nil)
	if err != nil {
		return rotated.Rotation{}, nil, err
	}
	for i, v := range ink.Pix {
		ink.Pix[i] = (255 - v) / 255 // 1 is ink
	}
	var best *rotated.Table[uint32]
	var bestScore float64
	for degrees := -44.0; degrees <= 44; degrees++ {
		rotation, err := rotated.Nearest(degrees, 40)
		if err != nil {
			return rotated.Rotation{}, nil, err
		}
		table, err := rotated.Integrate[uint32](ink, rotation, nil)
		if err != nil {
			return rotated.Rotation{}, nil, err
		}
		if score := contrast(profile(table)); score > bestScore {
			best, bestScore = table, score
		}
	}
	if best == nil {
		return rotated.Rotation{}, nil, fmt.Errorf("the page has no text to align")
	}
	return best.Rotation(), lines(best), nil
}

// profile returns the fraction of ink in every row of the lattice.
func profile(table *rotated.Table[uint32]) []float64 {
	all := table.Bounds()
	rows := make([]float64, all.R1-all.R0)
	for i := range rows {
		row := rotated.Box{C0: all.C0, R0: all.R0 + i, C1: all.C1, R1: all.R0 + i + 1}
		if area := table.Area(row); area > 20 {
			rows[i] = float64(table.Sum(row)) / float64(area)
		}
	}
	return rows
}

// contrast returns the mean squared difference between adjacent rows.
func contrast(rows []float64) (sum float64) {
	for i := range rows[1:] {
		step := rows[i+1] - rows[i]
		sum += step * step
	}
	return sum / float64(len(rows))
}

// lines splits the profile where there is no ink, and cuts each row where its ink begins and ends.
func lines(table *rotated.Table[uint32]) (found []rotated.Rectangle) {
	rows, all := profile(table), table.Bounds()
	for i := 0; i < len(rows); i++ {
		first := i
		for i < len(rows) && rows[i] > 0.02 {
			i++
		}
		if i-first < 3 {
			continue
		}
		strip := rotated.Box{C0: all.C0, R0: all.R0 + first, C1: all.C1, R1: all.R0 + i}
		for strip.C0 < strip.C1 && table.Sum(rotated.Box{C0: strip.C0, R0: strip.R0, C1: strip.C0 + 1, R1: strip.R1}) == 0 {
			strip.C0++
		}
		for strip.C0 < strip.C1 && table.Sum(rotated.Box{C0: strip.C1 - 1, R0: strip.R0, C1: strip.C1, R1: strip.R1}) == 0 {
			strip.C1--
		}
		if !strip.Empty() {
			found = append(found, rectangle(table, strip))
		}
	}
	return found
}

// rectangle returns the box as a rectangle in pixels: the extent of its pixels along the angle and across it.
func rectangle(table *rotated.Table[uint32], box rotated.Box) rotated.Rectangle {
	degrees := table.Rotation().Degrees()
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	u0, u1, v0, v1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for row := box.R0; row < box.R1; row++ {
		for column := box.C0; column < box.C1; column++ {
			if px, py, ok := table.Point(column, row); ok {
				x, y := float64(px)+0.5, float64(py)+0.5
				u, v := x*cos-y*sin, x*sin+y*cos
				u0, u1, v0, v1 = min(u0, u), max(u1, u), min(v0, v), max(v1, v)
			}
		}
	}
	u, v := (u0+u1)/2, (v0+v1)/2
	return rotated.Rectangle{X: u*cos + v*sin, Y: v*cos - u*sin, Width: u1 - u0 + 1, Height: v1 - v0 + 1, Degrees: degrees}
}
