package stores

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
	"github.com/boxsum/boxsum/internal/cli/imagefile"
	"github.com/boxsum/boxsum/store"
	"github.com/boxsum/boxsum/zarr"
)

// Verify implements the verify command.
type Verify struct {
	In     string `arg:"" name:"TABLE" help:"Table in a store that integrate wrote."`
	Source string `placeholder:"IMAGE" help:"Image of the table: the table is made again from it, and chunks that differ are rewritten."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// A verdict is the result of verifying a table.
type verdict struct {
	Table   string       `json:"table"`
	Damaged []damagedKey `json:"damaged"`
}

type damagedKey struct {
	Key      string `json:"key"`
	Why      string `json:"why"`
	Repaired bool   `json:"repaired"`
}

// Run verifies a table. It returns an error if damage remains.
func (c *Verify) Run(sh *console.Shell) error {
	b, err := zarr.OpenBucket(sh.Ctx, c.In, c.Source != "" && !strings.HasSuffix(filepath.Clean(c.In), ".zip"))
	if err != nil {
		return err
	}
	defer b.Close()
	t, err := store.OpenTable(sh.Ctx, b, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", zarr.Redacted(c.In), err)
	}
	var repair *store.Job
	if c.Source != "" {
		src, err := imagefile.OpenArrays(sh, []string{c.Source}, &imagefile.Flags{}, t.Depth() > 0)
		if err != nil {
			return err
		}
		defer src.Close()
		if repair, err = store.NewJob(sh.Ctx, src, b, t.Options()); err != nil {
			return err
		}
	}
	found, err := t.Verify(sh.Ctx, repair, func(done, all int) { sh.Progress.Reach("verifying", done, all) })
	if err != nil {
		return err
	}
	v := verdict{Table: zarr.Redacted(c.In), Damaged: []damagedKey{}}
	left := 0
	for _, d := range found {
		v.Damaged = append(v.Damaged, damagedKey{d.Key, console.OneLine(d.Why), d.Repaired})
		if !d.Repaired {
			left++
		}
	}
	w := sh.Results()
	if c.JSON {
		err = display.JSON(w, v)
	} else {
		for _, d := range v.Damaged {
			state := "damaged"
			if d.Repaired {
				state = "repaired"
			}
			fmt.Fprintf(w, "%s: %s: %s\n", console.Escape(d.Key), state, d.Why)
		}
		if len(v.Damaged) == 0 {
			_, err = fmt.Fprintln(w, "no damaged objects")
		}
	}
	if err == nil && left > 0 {
		hint := "add --source IMAGE to repair them"
		if c.Source != "" {
			hint = "objects in a zip file cannot be repaired, make the table again"
		}
		err = fmt.Errorf("the table has %s (%s)", display.Count(left, "damaged object"), hint)
	}
	return err
}
