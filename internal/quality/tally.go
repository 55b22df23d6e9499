package quality

import (
	"github.com/boxsum/boxsum/internal/engine"
	"github.com/boxsum/boxsum/internal/raster"
	"github.com/boxsum/boxsum/internal/window"
)

// The blocks of pixels in which scores are added, from left to right and from top to bottom, and the number of sums
// that are then added at a time. With this order, workers and devices get the same bits without waiting for each other.
const (
	BlockColumns = 8
	BlockRows    = 32
	BlockSums    = 32
)

// A tally holds the sums of the scores of a job by blocks.
type tally struct {
	job          *Job
	rows         int       // of a block
	across, down int       // blocks
	scores       []float64 // by channel, slice, and row and column of blocks
	contrasts    []float64 // empty if they are not wanted
	counts       []int     // scores of each row by channel; empty if all count
}

// aim clears the tally, for a job.
func (t *tally) aim(j *Job) {
	*t = tally{job: j, rows: j.unit(), across: engine.DivUp(j.A.Width, BlockColumns)}
	t.down = engine.DivUp(j.A.Height, t.rows)
	c, n := j.A.Channels, t.across*t.down*j.A.Depth
	t.scores = make([]float64, c*n)
	if j.contrasts {
		t.contrasts = make([]float64, c*n)
	}
	if j.counting {
		t.counts = make([]int, c*j.A.Height*j.A.Depth)
	}
}

// unit returns the number of rows of which bands of rows are multiples: no block then belongs to two bands.
func (j *Job) unit() int {
	if !j.integers() && j.Sigma == 0 {
		shape := j.shape()
		return window.Block(raster.F64, shape.Height())
	}
	return BlockRows
}

// inside returns the range of positions along an axis that count in means.
func (j *Job) inside(n int) (from, to int) {
	if j.cropped {
		return j.Size / 2, n - j.Size/2
	}
	return 0, n
}

// Windows returns the number of windows that count in means if all pixels count.
func (j *Job) Windows() int {
	left, right := j.inside(j.A.Width)
	top, bottom := j.inside(j.A.Height)
	n := (right - left) * (bottom - top)
	if j.Solid {
		front, back := j.inside(j.A.Depth)
		n *= back - front
	}
	return n
}

// record adds the scores of row y of slice z. marks holds the pixels that count, or is nil.
func (t *tally) record(y, z int, scores, contrasts []float64, marks []byte) {
	a := &t.job.A
	if from, to := t.job.inside(a.Height); y < from || y >= to {
		return
	}
	if t.job.Solid {
		if from, to := t.job.inside(a.Depth); z < from || z >= to {
			return
		}
	}
	c := a.Channels
	for ch := range c {
		first := ((ch*a.Depth+z)*t.down + y/t.rows) * t.across
		n := t.add(t.scores[first:][:t.across], scores, marks, ch)
		if t.counts != nil {
			t.counts[(z*a.Height+y)*c+ch] = n
		}
		if t.contrasts != nil {
			t.add(t.contrasts[first:][:t.across], contrasts, nil, ch)
		}
	}
}

// add adds a channel of a row of scores to a row of blocks, and returns how many count. NaN does not count beside marks.
func (t *tally) add(blocks, scores []float64, marks []byte, ch int) (n int) {
	c := t.job.A.Channels
	from, to := t.job.inside(t.job.A.Width)
	for x := from; x < to; {
		block := x / BlockColumns
		end, sum := min(to, (block+1)*BlockColumns), blocks[block]
		if c == 1 && marks == nil && end-x == BlockColumns { // the usual case: additions of several blocks run at once
			s := (*[BlockColumns]float64)(scores[x:])
			blocks[block] = sum + s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7]
			x = end
			continue
		}
		for ; x < end; x++ {
			s := scores[x*c+ch]
			if marks == nil {
				sum += s
			} else if marks[x*c+ch] != 0 && s == s {
				sum += s
				n++
			}
		}
		blocks[block] = sum
	}
	return n
}

// means returns the mean score of each channel, and the mean contrast. It overwrites the sums.
func (t *tally) means() (scores, contrasts []float64) {
	j, c := t.job, t.job.A.Channels
	n := len(t.scores) / c
	for ch := range c {
		count := j.Windows()
		if t.counts != nil {
			count = 0
			for i := ch; i < len(t.counts); i += c {
				count += t.counts[i]
			}
		}
		scores = append(scores, sumBlocks(t.scores[ch*n:][:n])/float64(count))
		if t.contrasts != nil {
			contrasts = append(contrasts, sumBlocks(t.contrasts[ch*n:][:n])/float64(count))
		}
	}
	return scores, contrasts
}

// sumBlocks returns the sum of sums, which it overwrites.
func sumBlocks(sums []float64) float64 {
	for len(sums) > 1 {
		n := engine.DivUp(len(sums), BlockSums)
		for i := range n {
			sum := 0.0
			for _, v := range sums[i*BlockSums : min(len(sums), (i+1)*BlockSums)] {
				sum += v
			}
			sums[i] = sum
		}
		sums = sums[:n]
	}
	return sums[0]
}
