package papers

import "math/bits"

var messomWork = &Work{
	Name:    "messom",
	Authors: "C. Messom, A. Barczak",
	Title:   "Stream processing for fast and efficient rotated Haar-like features using rotated integral images",
	Where:   "International Journal of Intelligent Systems Technologies and Applications, 2009",
}

// The algorithms of Messom and Barczak, whose tables are inclusive and of float.
var messom = []*Algorithm{
	{
		Name: "messom/serial", Work: messomWork, Section: "section 2, equation 1",
		Title:      "the recurrence over four neighbours on one thread",
		Precisions: []Precision{Float, Double},
		CostText:   "4 reads, 1 write",
		recurrence: true,
		cost:       fixedCost(4, 1),
		cpu:        hostCode{f32: messomSerial[float32], f64: messomSerial[float64]},
	},
	{
		Name: "messom/twisted", Work: messomWork, Section: "section 4.1",
		Title:      "the 45° table by the line-buffer method on one thread",
		Kind:       Tilted,
		Precisions: []Precision{Float, Double},
		CostText:   "4 reads, 2 writes",
		cost:       fixedCost(4, 2),
		cpu:        hostCode{f32: messomTwisted[float32], f64: messomTwisted[float64]},
	},
	{
		Name: "messom/rotated", Work: messomWork, Section: "section 4.1, figure 7",
		Title:      "the table along the lines of a rotation by the line-buffer method on one thread",
		Kind:       Rotated,
		Precisions: []Precision{Float, Double},
		CostText:   "3 to 4 reads, 2 writes",
		cost:       fixedCost(4, 2),
		cpu:        hostCode{f32: messomRotated[float32], f64: messomRotated[float64]},
	},
	{
		Name: "messom/stream-cpu", Work: messomWork, Section: "section 6.2",
		Title:      "stream processing simulated on one thread: a call of the kernel for each pixel and pass",
		Precisions: []Precision{Float},
		CostText:   "2 reads, 1 write for each of ⌈log₂W⌉+⌈log₂H⌉ passes",
		cost:       func(w, h int) Cost { return streamCost(w, h, 1) },
		cpu:        hostCode{f32: messomStreamCPU},
	},
	{
		Name: "messom/stream-cpu-float4", Work: messomWork, Section: "section 6.2",
		Title:      "the same with four pixels to an element",
		Precisions: []Precision{Float},
		CostText:   "2 reads, 1 write for each of ⌈log₂W⌉+⌈log₂H⌉ passes",
		cost:       func(w, h int) Cost { return streamCost(w, h, 1) },
		cpu:        hostCode{f32: messomStream4CPU},
	},
	{
		Name: "messom/stream-cpu-8", Work: messomWork, Section: "section 6.2",
		Title:      "the same with four pixels to an element and eight streams",
		Precisions: []Precision{Float},
		CostText:   "up to 2 reads, 1 write for each of ⌈log₂W⌉+⌈log₂H⌉ passes",
		cost:       func(w, h int) Cost { return streamCost(w, h, 8) },
		cpu:        hostCode{f32: messomStream8CPU},
	},
	{
		Name: "messom/stream", Work: messomWork, Section: "sections 5.1 to 5.3",
		Title:      "stream prefix sums: a pass for each doubling of the offset, first along rows, then along columns",
		Place:      GPU,
		Precisions: []Precision{Float},
		CostText:   "2 reads, 1 write for each of ⌈log₂W⌉+⌈log₂H⌉ passes",
		cost:       func(w, h int) Cost { return streamCost(w, h, 1) },
		gpu:        messomStream,
	},
	{
		Name: "messom/stream-float4", Work: messomWork, Section: "section 5.2",
		Title:      "the same with four pixels to an element",
		Place:      GPU,
		Precisions: []Precision{Float},
		CostText:   "2 reads, 1 write for each of ⌈log₂W⌉+⌈log₂H⌉ passes",
		cost:       func(w, h int) Cost { return streamCost(w, h, 1) },
		gpu:        messomStream4,
	},
	{
		Name: "messom/stream-8", Work: messomWork, Section: "section 5.2",
		Title:      "the same with four pixels to an element and eight streams",
		Place:      GPU,
		Precisions: []Precision{Float},
		CostText:   "up to 2 reads, 1 write for each of ⌈log₂W⌉+⌈log₂H⌉ passes",
		cost:       func(w, h int) Cost { return streamCost(w, h, 8) },
		gpu:        messomStream8,
	},
	{
		Name: "messom/tilted", Work: messomWork, Section: "section 5.3",
		Title:      "the 45° table by stream prefix sums along both diagonals, and a final pass that adds the pixel above",
		Kind:       Tilted,
		Place:      GPU,
		Precisions: []Precision{Float},
		CostText:   "2 reads, 1 write for each of 2·⌈log₂H⌉+1 passes, over W+H/2 columns",
		cost:       tiltedCost,
		gpu:        messomTilted,
	},
}

// passes is how many doublings of an offset it takes to sum n values: ⌈log₂n⌉.
func passes(n int) int { return bits.Len(uint(n - 1)) }

// streamCost is the passes along rows, and along columns, where an element of
// several rows has some of those above it at hand.
func streamCost(width, height, rows int) Cost {
	c := Cost{2 * float64(passes(width)), float64(passes(width) + passes(height))}
	for up := 1; up < height; up *= 2 {
		c.Reads += 1 + min(float64(up)/float64(rows), 1)
	}
	return c
}

func tiltedCost(width, height int) Cost {
	n := float64(2*passes(height)+1) * float64(width+(height-1)/2) / float64(width)
	return Cost{2 * n, n}
}

// messomSerial is equation 1, whose terms outside of the image are 0.
func messomSerial[E element](in, out grid[E], _ Options) {
	first, pixels := out.row(0), in.row(0)
	first[0] = pixels[0]
	for i := 1; i < len(first); i++ {
		first[i] = first[i-1] + pixels[i]
	}
	for j := 1; j < in.height; j++ {
		pixels, above, row := in.row(j), out.row(j-1), out.row(j)
		row[0] = above[0] + pixels[0]
		for i := 1; i < len(row); i++ {
			row[i] = row[i-1] + above[i] - above[i-1] + pixels[i]
		}
	}
}
