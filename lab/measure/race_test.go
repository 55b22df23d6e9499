package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestTurns tests that contestants take turns: one warm-up run each, then one run per round.
func TestTurns(t *testing.T) {
	var turns []string
	player := func(name string, times ...time.Duration) *Contestant {
		return &Contestant{Run: func(n, warm int) ([]time.Duration, error) {
			turns = append(turns, fmt.Sprint(name, warm))
			d := times[:n]
			times = times[n:]
			return d, nil
		}}
	}
	var told []int
	field := []*Contestant{
		player("a", 9*time.Millisecond, 3*time.Millisecond, time.Millisecond),
		player("b", time.Second, 50*time.Millisecond, 30*time.Millisecond),
	}
	race := Race{Rounds: 2, Budget: time.Hour, Warm: WarmRuns, After: func(n int) { told = append(told, n) }}
	if err := race.Run(t.Context(), field); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a0", "b0", "a4", "b0", "a10", "b0"}; !slices.Equal(turns, want) {
		t.Errorf("turns %v, want %v", turns, want)
	}
	if !slices.Equal(told, []int{1, 2}) {
		t.Errorf("told of rounds %v", told)
	}
	for i, want := range []Times{{Mean: 2, Min: 1, Max: 3}, {Mean: 40, Min: 30, Max: 50}} {
		if got := TimesOf(field[i].Times); got != want || len(field[i].Times) != 2 {
			t.Errorf("times %+v, want %+v", got, want)
		}
	}
}

// TestPlanned tests that planned runs are spread over the rounds, and continue if one contestant fails.
func TestPlanned(t *testing.T) {
	var turns []int
	broken := errors.New("broken")
	field := []*Contestant{
		{Run: func(n, _ int) ([]time.Duration, error) {
			turns = append(turns, n)
			return make([]time.Duration, n), nil
		}},
		{Abandon: true, Run: func(int, int) ([]time.Duration, error) { return nil, broken }},
	}
	race := Race{Rounds: 4, Continue: true, Plan: func(c *Contestant, _ time.Duration) { c.Want = 6 }}
	if err := race.Run(t.Context(), field); err != nil || !errors.Is(field[1].Err, broken) {
		t.Fatal(err, field[1].Err)
	}
	if !slices.Equal(turns, []int{1, 1, 2, 1, 2}) || len(field[0].Times) != 6 {
		t.Errorf("turns of %v runs, %d of them timed", turns, len(field[0].Times))
	}
}

func TestBudget(t *testing.T) {
	c := &Contestant{Run: func(n, _ int) ([]time.Duration, error) { return make([]time.Duration, n), nil }}
	race := Race{Rounds: 100, Budget: -1}
	if err := race.Run(t.Context(), []*Contestant{c}); err != nil || len(c.Times) != minRounds {
		t.Errorf("a spent budget gives %+v, %v, want %d rounds", c.Times, err, minRounds)
	}
}

func TestMeasureStops(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	for _, test := range []struct {
		run  Timer
		want error
	}{
		{func(int, int) ([]time.Duration, error) { return nil, broken }, broken},
		{func(int, int) ([]time.Duration, error) {
			if runs++; runs == 5 {
				cancel()
			}
			return []time.Duration{1}, nil
		}, context.Canceled},
	} {
		race := Race{Rounds: 100, Budget: time.Hour}
		if err := race.Run(ctx, []*Contestant{{Run: test.run}}); !errors.Is(err, test.want) {
			t.Errorf("got %v, want %v", err, test.want)
		}
	}
	if runs != 5 {
		t.Errorf("%d runs, though the context ended in the fifth", runs)
	}
}

func TestWarmFor(t *testing.T) {
	for d, want := range map[time.Duration]int{
		0: 10, 1: 10, 4 * time.Millisecond: 10, 5 * time.Millisecond: 8, 40 * time.Millisecond: 1, 41 * time.Millisecond: 0, time.Hour: 0,
	} {
		if got := warmFor(d, WarmRuns); got != want {
			t.Errorf("%d warm runs for %v, want %d", got, d, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, times := range map[float64][]time.Duration{
		5: {5 * time.Millisecond},
		3: {9 * time.Millisecond, 1 * time.Millisecond, 3 * time.Millisecond},
		2: {9 * time.Millisecond, 1 * time.Millisecond, 3 * time.Millisecond, 0},
	} {
		if got := Median(times); got != want {
			t.Errorf("the median of %v is %v, want %v", times, got, want)
		}
	}
}
