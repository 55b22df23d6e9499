package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// many reports whether there are several images, or a folder for the tables.
func (c *integrateCmd) many() bool { return severalOf(c.Ins, c.Out) }

// severalOf reports whether there are several images, or a folder for what is made of them.
func severalOf(ins []string, out string) bool { return len(ins) > 1 || endsAsFolder(out) }

// checkLast suggests -o where the last of several images is a file that is not there, as
// the output would be.
func checkLast(ins []string) error {
	if len(ins) < 2 {
		return nil
	}
	out := ins[len(ins)-1]
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) || strings.Contains(out, "://") {
		return nil
	}
	return usage("%s: no such file; to write it, say so with -o %[1]s", out)
}

// noOutput is the error about several images without -o.
func noOutput(ins []string, folder string) error {
	if err := checkLast(ins); err != nil {
		return err
	}
	return usage("no output: name a folder with -o, such as -o %s", folder)
}

func endsAsFolder(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1])
}

// runMany integrates one image after the other.
func (c *integrateCmd) runMany(sh *shell) error {
	outs, err := c.outputs()
	if err != nil {
		return err
	}
	return runEach(sh, c.Ins, outs, c.Out, c.JSON, func(in, out string) (report, error) {
		one := *c
		one.In, one.Out = in, out
		r, err := one.make(sh)
		if c.JSON {
			r.In = in
		}
		return r, err
	})
}

// runEach does the same with one image after the other, for outputs in a folder, which is
// made. One that fails does not stop the rest.
func runEach[R fmt.Stringer](sh *shell, ins, outs []string, folder string, asJSON bool, do func(in, out string) (R, error)) error {
	if folder != "" {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
	}
	var reports []R
	failed := 0
	for i, in := range ins {
		sh.progress.close()
		sh.startProgress()
		sh.progress.of(fmt.Sprintf("%d of %d: ", i+1, len(ins)))
		r, err := do(in, outs[i])
		if sh.ctx.Err() != nil {
			return sh.ctx.Err()
		}
		sh.progress.close()
		sh.sayAll()
		switch {
		case err != nil:
			failed++
			fmt.Fprintf(sh.stderr, "boxsum: %s: %s\n", escape(in), oneLine(err))
		case asJSON:
			reports = append(reports, r)
		case sh.quiet && folder != "":
		default:
			if _, err := fmt.Fprintf(sh.stdout, "%s: %v\n", escape(in), r); err != nil {
				return err
			}
		}
	}
	if asJSON {
		if err := printLinesJSON(sh.stdout, reports); err != nil {
			return err
		}
		fmt.Fprintln(sh.stdout)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d images failed", failed, len(ins))
	}
	return nil
}

// outputs are the files for the tables, in the folder of --out.
func (c *integrateCmd) outputs() ([]string, error) {
	switch {
	case c.Demo:
		return nil, usage("--demo draws its own image: leave out %s", strings.Join(c.Ins, " "))
	case c.Volume:
		return nil, usage("--volume takes one volume and the file for its table")
	case len(c.Ins) == 0:
		return nil, usage("no image: name a file, or let --demo draw one")
	case c.Out == "":
		return make([]string, len(c.Ins)), checkLast(c.Ins)
	}
	extension := ".npy"
	if c.Squares || c.Tilted {
		extension = ".npz"
	}
	return inFolder(c.Ins, c.Out, "tables", func(string) string { return extension })
}

// inFolder is the files for what is made of images, in a folder: by the names of the
// images, with their extensions where they would be the same without.
func inFolder(ins []string, folder, what string, extension func(in string) string) ([]string, error) {
	if info, err := os.Stat(folder); !endsAsFolder(folder) && (err != nil || !info.IsDir()) {
		return nil, usage("%s: the %s of several images go to a folder: write -o %s/", folder, what, cmp.Or(strings.TrimSuffix(folder, filepath.Ext(folder)), what))
	}
	stem := func(in string) string {
		if in == standard {
			return "stdin"
		}
		base := filepath.Base(in)
		return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), base)
	}
	times, taken := map[string]int{}, map[string]string{}
	for _, in := range ins {
		times[stem(in)+extension(in)]++
	}
	outs := make([]string, len(ins))
	for i, in := range ins {
		name := stem(in)
		if times[name+extension(in)] > 1 {
			name = filepath.Base(in)
		}
		outs[i] = filepath.Join(folder, name+extension(in))
		if other, ok := taken[outs[i]]; ok {
			return nil, usage("the %s of %s and %s would both be %s: write them to different folders", what, other, in, outs[i])
		}
		taken[outs[i]] = in
	}
	return outs, nil
}
