package bench

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

// Contestants take turns: once each to warm up, then once a round.
func TestTurns(t *testing.T) {
	var turns []string
	player := func(name string, times ...time.Duration) contestant {
		return contestant{Result: Result{Algorithm: name, On: "cpu"}, run: func(warm int) (time.Duration, error) {
			turns = append(turns, fmt.Sprint(name, warm))
			d := times[0]
			times = times[1:]
			return d, nil
		}}
	}
	var told []int
	results, err := measure(t.Context(), []contestant{
		player("a", 9*time.Millisecond, 3*time.Millisecond, time.Millisecond),
		player("b", time.Second, 50*time.Millisecond, 30*time.Millisecond),
	}, 2, time.Hour, func(n int) { told = append(told, n) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a0", "b0", "a4", "b0", "a10", "b0"}; !slices.Equal(turns, want) {
		t.Errorf("turns %v, want %v", turns, want)
	}
	if !slices.Equal(told, []int{1, 2}) {
		t.Errorf("told of rounds %v", told)
	}
	want := []Result{
		{Algorithm: "a", On: "cpu", Repeat: 2, Mean: 2, Min: 1, Max: 3},
		{Algorithm: "b", On: "cpu", Repeat: 2, Mean: 40, Min: 30, Max: 50},
	}
	if !reflect.DeepEqual(results, want) {
		t.Errorf("results %+v, want %+v", results, want)
	}
}

func TestBudget(t *testing.T) {
	c := contestant{run: func(int) (time.Duration, error) { return 1, nil }}
	results, err := measure(t.Context(), []contestant{c}, 100, -1, func(int) {})
	if err != nil || results[0].Repeat != minRounds {
		t.Errorf("a spent budget gives %+v, %v, want %d rounds", results, err, minRounds)
	}
}

func TestMeasureStops(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	for _, test := range []struct {
		run  func(int) (time.Duration, error)
		want error
	}{
		{func(int) (time.Duration, error) { return 0, broken }, broken},
		{func(int) (time.Duration, error) {
			if runs++; runs == 5 {
				cancel()
			}
			return 1, nil
		}, context.Canceled},
	} {
		if _, err := measure(ctx, []contestant{{run: test.run}}, 100, time.Hour, func(int) {}); !errors.Is(err, test.want) {
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
		if got := warmFor(d); got != want {
			t.Errorf("%d warm runs for %v, want %d", got, d, want)
		}
	}
}
