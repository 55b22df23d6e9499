package reproduce

import "testing"

// TestTurned tests that pictures that are rotated back are classified well, that tables with exact
// areas and finer layers do as well, and that the verdict agrees.
func TestTurned(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a classifier, which takes seconds: leave out -short")
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
