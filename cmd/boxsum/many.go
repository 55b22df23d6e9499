package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// many reports whether there are several images, or a folder for the tables.
func (c *integrateCmd) many() bool { return len(c.Ins) > 1 || endsAsFolder(c.Out) }

func endsAsFolder(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1])
}

// runMany integrates one image after the other. One that fails does not stop the rest.
func (c *integrateCmd) runMany(sh *shell) error {
	outs, err := c.outputs()
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o777); err != nil {
			return err
		}
	}
	var reports []report
	failed := 0
	for i, in := range c.Ins {
		one := *c
		one.In, one.Out = in, outs[i]
		sh.progress.close()
		sh.progress = newProgress(sh.stderr)
		sh.progress.of(fmt.Sprintf("%d of %d: ", i+1, len(c.Ins)))
		r, err := one.make(sh)
		if sh.ctx.Err() != nil {
			return sh.ctx.Err()
		}
		sh.progress.close()
		sh.sayAll()
		switch {
		case err != nil:
			failed++
			fmt.Fprintf(sh.stderr, "boxsum: %s: %s\n", escape(in), oneLine(err))
		case c.JSON:
			r.In = in
			reports = append(reports, r)
		default:
			if _, err := fmt.Fprintf(sh.stdout, "%s: %v\n", escape(in), r); err != nil {
				return err
			}
		}
	}
	if c.JSON {
		if err := printLinesJSON(sh.stdout, reports); err != nil {
			return err
		}
		fmt.Fprintln(sh.stdout)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d images failed", failed, len(c.Ins))
	}
	return nil
}

// outputs are the files for the tables, in the folder of --out: by the names of the
// images, with their extensions where they would be the same without.
func (c *integrateCmd) outputs() ([]string, error) {
	switch {
	case c.Demo:
		return nil, usage("--demo draws its own image: leave out %s", strings.Join(c.Ins, " "))
	case c.Volume:
		return nil, usage("--volume takes one volume and the file for its table")
	case len(c.Ins) == 0:
		return nil, usage("no image: name a file, or let --demo draw one")
	}
	outs := make([]string, len(c.Ins))
	if c.Out == "" {
		return outs, nil
	}
	if info, err := os.Stat(c.Out); !endsAsFolder(c.Out) && (err != nil || !info.IsDir()) {
		return nil, usage("%s: the tables of several images go to a folder: write -o %s/", c.Out, cmp.Or(strings.TrimSuffix(c.Out, filepath.Ext(c.Out)), "tables"))
	}
	extension := ".npy"
	if c.Squares || c.Tilted {
		extension = ".npz"
	}
	stem := func(in string) string {
		if in == standard {
			return "stdin"
		}
		base := filepath.Base(in)
		return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
	}
	times, taken := map[string]int{}, map[string]string{}
	for _, in := range c.Ins {
		times[stem(in)]++
	}
	for i, in := range c.Ins {
		name := stem(in)
		if times[name] > 1 {
			name = filepath.Base(in)
		}
		outs[i] = filepath.Join(c.Out, name+extension)
		if other, ok := taken[outs[i]]; ok {
			return nil, usage("the tables of %s and %s would both be %s: integrate them into different folders", other, in, outs[i])
		}
		taken[outs[i]] = in
	}
	return outs, nil
}
