package reproduce

import "testing"

// TestTurned: pictures that are turned back are classified well, tables by exact areas in finer
// layers as well, and the verdict follows.
func TestTurned(t *testing.T) {
	if testing.Short() {
		t.Skip("training takes seconds")
	}
	got := turnedFaces()
	t.Logf("%+v: %v", *got, got)
	if got.Picture < 80 || got.Finer < got.Picture-10 || got.Plain > got.Exact {
		t.Errorf("%+v", *got)
	}
	for want, v := range map[float64]*Turned{1: {90, 90, 90, 90}, 0.5: {90, 5, 50, 89}, 0: {90, 5, 50, 60}} {
		if v.Score() != want {
			t.Errorf("%+v has %v", v, v.Score())
		}
	}
}
