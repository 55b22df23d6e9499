package imagefile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/boxsum/boxsum/internal/cli/console"
	"github.com/boxsum/boxsum/internal/cli/display"
)

// Several reports whether there are several inputs or an output folder.
func Several(ins []string, out string) bool { return len(ins) > 1 || endsAsFolder(out) }

// CheckLast returns an error that suggests -o if there is no output, and the last of several images does not
// exist: it is probably the output.
func CheckLast(ins []string, out string) error {
	if out != "" || len(ins) < 2 {
		return nil
	}
	last := ins[len(ins)-1]
	if _, err := os.Stat(last); !errors.Is(err, fs.ErrNotExist) || strings.Contains(last, "://") {
		return nil
	}
	return console.Usage("%s: no such file (to write it, use -o %[1]s)", last)
}

// NoOutput returns the error for several images without -o.
func NoOutput(ins []string, folder string) error {
	if err := CheckLast(ins, ""); err != nil {
		return err
	}
	return console.Usage("no output: name a folder with -o, such as -o %s", folder)
}

func endsAsFolder(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1])
}

// Each processes one image after another, with outputs in a folder, which it creates. After a
// failure it goes on with the next image.
func Each[R fmt.Stringer](sh *console.Shell, ins, outs []string, folder string, asJSON bool, do func(in, out string) (R, error)) error {
	if folder != "" {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
	}
	var reports []R
	failed := 0
	for i, in := range ins {
		sh.Progress.Close()
		sh.StartProgress()
		sh.Progress.Of(fmt.Sprintf("%d of %d: ", i+1, len(ins)))
		r, err := do(in, outs[i])
		if sh.Ctx.Err() != nil {
			return sh.Ctx.Err()
		}
		sh.Progress.Close()
		sh.SayAll()
		switch {
		case err != nil:
			failed++
			sh.Failed(in, err)
		case asJSON:
			reports = append(reports, r)
		case sh.Quiet && folder != "":
		default:
			if _, err := fmt.Fprintf(sh.Stdout, "%s: %v\n", console.Escape(in), r); err != nil {
				return err
			}
		}
	}
	if asJSON {
		if err := display.JSONLines(sh.Stdout, reports); err != nil {
			return err
		}
		fmt.Fprintln(sh.Stdout)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d images failed", failed, len(ins))
	}
	return nil
}

// InFolder returns the output files in a folder for several inputs. They keep the names of the
// inputs, and also their extensions if names would collide.
func InFolder(ins []string, folder, what string, extension func(in string) string) ([]string, error) {
	if info, err := os.Stat(folder); !endsAsFolder(folder) && (err != nil || !info.IsDir()) {
		return nil, console.Usage("%s: the %s of several images go to a folder: use -o %s/", folder, what, cmp.Or(strings.TrimSuffix(folder, filepath.Ext(folder)), what))
	}
	stem := func(in string) string {
		if in == console.Standard {
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
			return nil, console.Usage("the %s of %s and %s would both be %s: write them to different folders", what, other, in, outs[i])
		}
		taken[outs[i]] = in
	}
	return outs, nil
}
