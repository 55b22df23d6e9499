package console

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boxsum/boxsum/internal/ref"
)

// TestProgressOnTerminal waits for every kind of step to appear.
func TestProgressOnTerminal(t *testing.T) {
	tty, screen := ref.Terminal(t)
	p := &Progress{stop: make(chan struct{})}
	p.Begin("reading", 1000)
	p.Add(500)
	p.finished.Go(func() { p.draw(tty) })

	var seen strings.Builder
	buf := make([]byte, 4096)
	waitFor := func(texts ...string) {
		for _, text := range texts {
			for !strings.Contains(seen.String(), text) {
				n, err := screen.Read(buf)
				if err != nil {
					t.Fatalf("waiting for %q: %v", text, err)
				}
				seen.Write(buf[:n])
			}
		}
		seen.Reset()
	}
	waitFor("reading", "50 %")
	p.Begin("integrating", 0)
	waitFor("integrating")
	p.Share("integrating")(0.625)
	waitFor("integrating", "62 %")
	p.Reach("u8:u32 1080p", 3, 4)
	waitFor("u8:u32 1080p", "75 %")
	p.Close()
}

func TestProgressOnlyOnTerminals(t *testing.T) {
	tty, screen := ref.Terminal(t)
	p := newProgress(tty)
	if p == nil {
		t.Fatal("no progress on a terminal")
	}
	var seen []byte // of work that has not begun a step
	for buf := make([]byte, 4096); !bytes.Contains(seen, []byte("working")); {
		n, err := screen.Read(buf)
		if err != nil {
			t.Fatalf("waiting for a line: %v", err)
		}
		seen = append(seen, buf[:n]...)
	}
	p.Close()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if newProgress(file) != nil || newProgress(new(bytes.Buffer)) != nil {
		t.Error("progress on something that is not a terminal")
	}
	// Commands need not ask whether there is a bar.
	var none *Progress
	none.Begin("reading", 1)
	none.Add(1)
	none.Reach("round", 1, 2)
	if none.Share("integrating") != nil {
		t.Error("a hidden bar has a share")
	}
	none.Close()
}

func TestStepState(t *testing.T) {
	start := time.Now()
	for _, test := range []struct {
		s     *step
		done  int64
		after time.Duration
		want  string
	}{
		{&step{}, 5, time.Minute, ""},
		{&step{total: 1000}, 0, time.Minute, "0 %"},
		{&step{total: 1000}, 333, time.Second, "33 %"},
		{&step{total: 1000}, 250, 20 * time.Second, "25 %  1m0s left"},
		{&step{total: 1000}, 1000, 0, "99 %"},
		{&step{total: 2 << 30, bytes: true}, 1 << 30, time.Second, "50 %  1.0 GiB / 2.0 GiB"},
	} {
		test.s.start = start
		test.s.done.Store(test.done)
		if got := test.s.state(start.Add(test.after)); got != test.want {
			t.Errorf("%d of %d: %q, want %q", test.done, test.s.total, got, test.want)
		}
	}
}
