package method

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/boxsum/boxsum"
	"github.com/boxsum/boxsum/gpu/internal/cuda"
	"github.com/boxsum/boxsum/gpu/internal/driver"
)

// A fake is a method that controls how its launches end, and records how many images each has.
type fake struct {
	images
	obstacle         string
	suits            bool
	most             int
	onePass          error // the error of the one-pass kernels
	fits             int   // number of images that fit in memory
	ran              string
	firsts, together []int
}

func (f *fake) Obstacle(Job) string { return f.obstacle }
func (f *fake) Suits(Job) bool      { return f.suits }

func (f *fake) Part(job Job, first, count int) Job {
	f.firsts = append(f.firsts, first)
	job.Count = count
	return job
}

func (f *fake) plan(name string, err error) (Plan, error) {
	return Plan{f.most, func(part Job) error {
		if part.Count > f.fits {
			return boxsum.ErrMemory
		}
		if err == nil {
			f.ran = name
			f.together = append(f.together, part.Count)
		}
		return err
	}}, nil
}

func (f *fake) OnePass(Job) (Plan, error)  { return f.plan("one-pass", f.onePass) }
func (f *fake) Portable(Job) (Plan, error) { return f.plan("portable", nil) }

// TestRefused checks that other kernels are used only if the caller left the choice and the driver
// will never accept the kernels.
func TestRefused(t *testing.T) {
	const noPTX, noBinary, unknown = cuda.Result(222), cuda.Result(209), cuda.Result(999)
	with := func(reasons ...error) error {
		return fmt.Errorf("CUDA: find a kernel: %w", driver.Refusal(reasons))
	}
	for _, c := range []struct {
		name  string
		asked Way
		err   error
		other bool
	}{
		{"nothing", Auto, nil, false},
		{"old driver", Auto, with(fmt.Errorf("%w: a log", noPTX)), true},
		{"old driver, machine code first", Auto, with(noBinary, noPTX), true},
		{"old driver, fast kernels asked for", OnePass, with(noBinary, noPTX), false},
		{"something else", Auto, with(unknown), false},
		{"no result", Auto, with(noPTX, errors.New("no result")), false},
		{"a launch", Auto, fmt.Errorf("CUDA: run a kernel: %w", noPTX), false},
		{"too many tiles", OnePass, errTooManyTiles, true},
	} {
		f := &fake{suits: true, most: 1, fits: 1, onePass: c.err}
		err := Run(f, Job{Width: 1, Height: 1, Count: 1}, c.asked)
		if c.other && (err != nil || f.ran != "portable") || !c.other && err != c.err {
			t.Errorf("%s: %v, by %q", c.name, err, f.ran)
		}
	}
}

// TestChoice tests the choice of kernels.
func TestChoice(t *testing.T) {
	job := Job{Width: 1, Height: 1, Count: 1}
	for _, c := range []struct {
		asked    Way
		obstacle string
		suits    bool
		want     string
	}{
		{Auto, "", true, "one-pass"}, {Auto, "", false, "portable"}, {Auto, "need more", true, "portable"},
		{Portable, "", true, "portable"}, {OnePass, "", false, "one-pass"}, {OnePass, "need more", true, ""},
	} {
		f := &fake{obstacle: c.obstacle, suits: c.suits, most: 1, fits: 1}
		if err := Run(f, job, c.asked); f.ran != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, boxsum.ErrTypes) {
			t.Errorf("%+v: by %q, %v", c, f.ran, err)
		}
	}
}

// TestParts checks that batches are cut into parts, and into smaller ones if memory is short.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		count, most, fits int
		want              []int
	}{
		{7, 10, 10, []int{7}}, {7, 3, 3, []int{3, 3, 1}}, {7, 7, 3, []int{2, 2, 2, 1}}, {3, 3, 0, nil}, {3, 0, 9, nil},
	} {
		f := &fake{most: c.most, fits: c.fits}
		err := Run(f, Job{Width: 1, Height: 1, Count: c.count}, Portable)
		if !slices.Equal(f.together, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%+v: %v from %v on, %v", c, f.together, f.firsts, err)
		}
		if c.most == 0 && !errors.Is(err, boxsum.ErrInvalid) || c.fits == 0 && !errors.Is(err, boxsum.ErrMemory) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
