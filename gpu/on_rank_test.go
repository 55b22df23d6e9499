package gpu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/filter"
	"github.com/boxsum/boxsum/internal/fixture"
	"github.com/boxsum/boxsum/rank"
)

// A ranking is a random image and a statistic.
type ranking struct {
	filterCase
	statistic rank.Statistic
	opt       rank.Options
}

func randomRanking(rng *rand.Rand) ranking {
	c := ranking{filterCase: randomCase(rng), statistic: []rank.Statistic{rank.Mean, rank.Mean, rank.Percentile, rank.Percentile, rank.Equalize, rank.Minimum, rank.Maximum}[rng.IntN(7)]}
	c.opt.Fraction = []float64{0, 0.5, 1, rng.Float64()}[rng.IntN(4)]
	if c.statistic != rank.Mean {
		c.width = 1 + c.width%200
	}
	return c
}

// rankedOn compares a statistic on a device with that on the CPU.
func rankedOn[P FilterPixel](t *testing.T, d *Device, c ranking) {
	t.Helper()
	name, opt := fmt.Sprintf("%v of %T of %+v", c.statistic, *new(P), c), c.opt
	src := fixture.Noise[P](c.seed, c.width, c.height, c.channels, c.gap)
	sameOn(t, d, name, parts[P](c.width, c.height, c.channels, c.gap), func(dst boxsum.Image[P], on boxsum.Device, progress func(float64)) error {
		opt.On, opt.Progress = on, progress
		return rank.FilterInto(dst, src, c.statistic, c.window, &opt)
	})
	if c.seed%4 == 0 {
		sameOn(t, d, "in place: "+name, clones(src), func(img boxsum.Image[P], on boxsum.Device, progress func(float64)) error {
			opt.On, opt.Progress = on, progress
			return rank.FilterInto(img, img, c.statistic, c.window, &opt)
		})
	}
}

// TestRankOn compares statistics from host memory to host memory with the CPU's.
func TestRankOn(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(10, 41))
		for range randomCases(200) {
			c := randomRanking(rng)
			if rng.IntN(3) == 0 {
				c.statistic = rank.Mean
				rankedOn[uint16](t, d, c)
			} else {
				rankedOn[uint8](t, d, c)
			}
		}
		for _, size := range [][2]int{{0, 5}, {5, 0}, {1, 1}} {
			rankedOn[uint8](t, d, ranking{filterCase: filterCase{width: size[0], height: size[1], channels: 1, window: filter.Square(3)}, statistic: rank.Mean})
		}
		wide := ranking{filterCase: filterCase{width: 3000, height: 9, channels: 1, window: filter.Window{Width: 511, Height: 3}}, statistic: rank.Mean}
		rankedOn[uint8](t, d, wide)
		rankedOn[uint16](t, d, wide)
	})
}

// TestRankOnSeveral divides images among devices, some of which fail or have little memory.
func TestRankOnSeveral(t *testing.T) {
	mean := ranking{filterCase: filterCase{width: 70, height: 401, channels: 2, window: filter.Window{Width: 7, Height: 31}}, statistic: rank.Mean}
	percentile := mean
	percentile.statistic, percentile.opt.Fraction = rank.Percentile, 0.3
	onSeveral(t, 200<<10,
		func(t *testing.T, d *Device) {
			rankedOn[uint8](t, d, percentile)
			rankedOn[uint16](t, d, mean)
		},
		func(t *testing.T, d *Device) { rankedOn[uint16](t, d, mean) },
		func(t *testing.T, d *Device) { rankedOn[uint8](t, d, mean) })
}

// TestRankThere filters batches that are on a device.
func TestRankThere(t *testing.T) {
	eachDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(11, 41))
		for range randomCases(30) {
			c := randomRanking(rng)
			if !sameThere(t, d, fmt.Sprintf("%+v", c), c.gap, filterImages[uint8](c.filterCase),
				func(dst, src *Image[uint8]) error { return RankInto(dst, src, c.statistic, c.window, &c.opt) },
				func(img boxsum.Image[uint8]) (boxsum.Image[uint8], error) {
					return rank.Filter(img, c.statistic, c.window, &c.opt)
				}) {
				return
			}
		}
		x, err := Upload(d, fixture.Noise[uint8](1, 30, 20, 1, 0))
		y, wrong := Upload(d, fixture.Noise[uint16](1, 30, 20, 1, 0))
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		w := filter.Square(3)
		checkRefusals(t, map[string]refusal{
			"Otsu":           {second(Rank(x, rank.Otsu, w, nil)), boxsum.ErrInvalid},
			"no statistic":   {second(Rank(x, 77, w, nil)), boxsum.ErrInvalid},
			"a footprint":    {second(Rank(x, rank.Mean, w, &rank.Options{Footprint: make([]uint8, 9)})), boxsum.ErrInvalid},
			"a mask":         {second(Rank(x, rank.Mean, w, &rank.Options{Mask: fixture.Noise[uint8](1, 30, 20, 1, 0)})), boxsum.ErrInvalid},
			"a fraction":     {second(Rank(x, rank.Percentile, w, &rank.Options{Fraction: 2})), boxsum.ErrInvalid},
			"no window":      {second(Rank(x, rank.Mean, filter.Window{}, nil)), boxsum.ErrInvalid},
			"words":          {second(Rank(y, rank.Percentile, w, nil)), boxsum.ErrTypes},
			"itself":         {RankInto(x, x, rank.Mean, w, nil), boxsum.ErrOverlap},
			"no image":       {second(Rank[uint8](nil, rank.Mean, w, nil)), boxsum.ErrInvalid},
			"no destination": {RankInto(nil, x, rank.Mean, w, nil), boxsum.ErrInvalid},
			"canceled":       {second(Rank(x, rank.Mean, w, &rank.Options{Context: canceled()})), context.Canceled},
		})
	})
}

// TestRankOnRefused requests statistics that devices do not support.
func TestRankOnRefused(t *testing.T) {
	im, words := fixture.Noise[uint8](1, 700, 300, 1, 0), fixture.Noise[uint16](1, 60, 40, 1, 0)
	w := filter.Square(5)
	eachDevice(t, func(t *testing.T, d *Device) {
		opt := &rank.Options{On: d}
		for s := rank.Minimum; s <= rank.BilateralMean; s++ {
			_, err := rank.Filter(im, s, w, opt)
			switch s {
			case rank.Mean, rank.Percentile, rank.Minimum, rank.Maximum, rank.Equalize:
				if err != nil {
					t.Errorf("%v: %v", s, err)
				}
			default:
				if !errors.Is(err, boxsum.ErrInvalid) {
					t.Errorf("%v: %v", s, err)
				}
			}
		}
		checkRefusals(t, map[string]refusal{
			"entropy":        {second(rank.Entropies[float32](im, w, opt)), boxsum.ErrInvalid},
			"histograms":     {second(rank.Histograms[float32](im, w, 4, opt)), boxsum.ErrInvalid},
			"words":          {second(rank.Filter(words, rank.Percentile, w, opt)), boxsum.ErrTypes},
			"a wide window":  {second(rank.Filter(im, rank.Mean, filter.Square(601), opt)), boxsum.ErrInvalid},
			"a large window": {second(rank.Filter(im, rank.Equalize, filter.Square(301), opt)), boxsum.ErrInvalid},
			"a mask":         {second(rank.Filter(im, rank.Mean, w, &rank.Options{On: d, Mask: im})), boxsum.ErrInvalid},
			"a footprint":    {second(rank.Filter(im, rank.Mean, w, &rank.Options{On: d, Footprint: make([]uint8, 25)})), boxsum.ErrInvalid},
		})
		checkOnRefused(t, d, func(on boxsum.Device, level boxsum.Level, ctx context.Context) error {
			return second(rank.Filter(im, rank.Mean, w, &rank.Options{On: on, Level: level, Context: ctx}))
		})
	})
}
