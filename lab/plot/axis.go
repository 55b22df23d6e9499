package plot

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A scale maps values between low and high to positions from 0 to 1.
type scale struct {
	log       bool
	low, high float64
}

func (s scale) at(v float64) float64 {
	if s.log {
		return math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return (v - s.low) / (s.high - s.low)
}

// Mark adds a tick at its position unless the axis has it already.
func (a *Axis) Mark(at float64, label string) {
	if t := (Tick{at, label}); !slices.Contains(a.Ticks, t) {
		a.Ticks = append(a.Ticks, t)
		sort.SliceStable(a.Ticks, func(i, j int) bool { return a.Ticks[i].At < a.Ticks[j].At })
	}
}

// scaleOf returns a scale for an axis with the given values and a small margin.
func scaleOf(a Axis, values []float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if a.Log {
		room := max(math.Pow(high/low, 0.05), 1.08)
		low, high = low/room, high*room
		// A log scale that spans less than a factor of two would exaggerate noise.
		if high/low < 2 {
			middle := math.Sqrt(low * high)
			low, high = middle/math.Sqrt2, middle*math.Sqrt2
		}
		return scale{true, low, high}
	}
	if a.Zero {
		low = min(low, 0)
	}
	if high == low {
		high = low + 1
	}
	room := 0.06 * (high - low)
	if low != 0 || !a.Zero {
		low -= room
	}
	return scale{false, low, high + room}
}

// ticks returns the labeled ticks of an axis and, on a log scale, the minor ones without labels.
func (s scale) ticks(a Axis) (labeled []Tick, minor []float64) {
	if a.Ticks != nil {
		for _, t := range a.Ticks {
			if p := s.at(t.At); p >= -1e-9 && p <= 1+1e-9 {
				labeled = append(labeled, t)
			}
		}
		return labeled, nil
	}
	if s.log {
		return s.logTicks()
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/5)))
	for _, factor := range []float64{2, 2.5, 2} {
		if (s.high-s.low)/step > 7 {
			step *= factor
		}
	}
	for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high*(1+1e-12); i++ {
		labeled = append(labeled, Tick{i * step, Number(i * step)})
	}
	return labeled, nil
}

// logTicks labels the powers of ten, and also 2 and 5 times these or all digits if there is room.
func (s scale) logTicks() (labeled []Tick, minor []float64) {
	decades := math.Log10(s.high / s.low)
	skip := math.Ceil(decades / 7) // powers of ten per label
	for e := math.Floor(math.Log10(s.low)); e <= math.Log10(s.high); e++ {
		for digit := 1.0; digit < 10; digit++ {
			v := digit * math.Pow(10, e)
			if v < s.low || v > s.high {
				continue
			}
			switch {
			case digit == 1 && math.Mod(e, skip) == 0, decades < 2.2 && (digit == 2 || digit == 5), decades < 0.8:
				labeled = append(labeled, Tick{v, Number(v)})
			case decades < 5:
				minor = append(minor, v)
			}
		}
	}
	return labeled, minor
}

// Number formats a number for people, without an exponent and with a thin space between groups of
// three digits.
func Number(v float64) string {
	v += 0 // avoid a negative zero
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if exact := strconv.FormatFloat(v, 'g', 6, 64); !strings.Contains(exact, "e") {
		s = exact
	} else if f, err := strconv.ParseFloat(exact, 64); err == nil {
		s = strconv.FormatFloat(f, 'f', -1, 64)
	}
	whole, fraction, _ := strings.Cut(s, ".")
	var b strings.Builder
	for i, r := range whole {
		if n := len(whole) - i; i > 0 && n%3 == 0 && len(whole) > 4 && whole[i-1] != '-' {
			b.WriteRune(',')
		}
		b.WriteRune(r)
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return b.String()
}
