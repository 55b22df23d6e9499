package reproduce

import (
	"math/rand/v2"
	"testing"
)

// TestPeople tests that both descriptors find drawn people, and that reading blocks does not depend on
// their size as computing them does.
func TestPeople(t *testing.T) {
	if testing.Short() {
		t.Skip("trains two detectors, which takes seconds: leave out -short")
	}
	p, err := comparePeople(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *p)
	if len(p.Found) != 3 || len(p.Blocks) != 4 || p.AllRead() <= p.TableTime {
		t.Fatalf("%+v", *p)
	}
	for _, f := range p.Found {
		if f.Found < 25 || f.Values != 3780 {
			t.Errorf("%+v", f)
		}
	}
}

// TestTrainSVM tests that rows are separated by the widest margin: by x = 2 if the nearest are x = 1 and x = 3.
func TestTrainSVM(t *testing.T) {
	rows := [][]float32{{3, 7}, {4, -5}, {3, 1}, {1, 1}, {0, 6}, {1, -4}}
	w := trainSVM(rand.New(rand.NewPCG(1, 1)), rows, 3, 1000)
	for i, row := range rows {
		score := w[0]*row[0] + w[1]*row[1] + w[2]
		if score < 0 == (i < 3) {
			t.Errorf("row %d has the score %v", i, score)
		}
	}
	if edge := -w[2] / w[0]; edge < 1.8 || edge > 2.2 || w[1]*w[1] > w[0]*w[0]/100 {
		t.Errorf("the coefficients are %v", w)
	}
}
