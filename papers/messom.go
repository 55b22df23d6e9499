package papers

import "math/bits"

// The algorithms of Messom and Barczak, whose tables are inclusive and of float.

// passes returns the number of doublings of an offset needed to sum n values: ⌈log₂n⌉.
func passes(n int) int { return bits.Len(uint(n - 1)) }

// streamCost returns the cost of the passes along rows and along columns. An element of several
// rows contains some of those above it.
func streamCost(rows int) func(width, height int) Cost {
	return func(width, height int) Cost {
		c := Cost{2 * float64(passes(width)), float64(passes(width) + passes(height))}
		for up := 1; up < height; up *= 2 {
			c.Reads += 1 + min(float64(up)/float64(rows), 1)
		}
		return c
	}
}

func tiltedCost(width, height int) Cost {
	n := float64(2*passes(height)+1) * float64(width+(height-1)/2) / float64(width)
	return Cost{2 * n, n}
}

// messomSerial is equation 1, with terms outside the image equal to 0.
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
