package main

import "testing"

// TestRows tests that every row runs and has a peer.
func TestRows(t *testing.T) {
	im := newImages(200, 180)
	for _, r := range rows {
		if err := r.ours(im, how{workers: 1}); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		if r.does == "" || r.peer == "" {
			t.Errorf("%s has no peer", r.name)
		}
	}
}
