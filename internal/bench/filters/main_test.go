package main

import (
	"testing"

	"github.com/boxsum/boxsum/filter"
)

// Every row does its work, on images of the sizes that peers have.
func TestRows(t *testing.T) {
	im := newImages(200, 180)
	for _, r := range rows {
		if err := r.ours(im, &filter.Options{Workers: 1}); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		if r.does == "" || r.peer == "" {
			t.Errorf("%s has no peer", r.name)
		}
	}
}
