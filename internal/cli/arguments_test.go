package cli

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzArguments runs command lines, an argument a line, in a folder of their own: none
// may panic, leave with another code than 0, 1 or 2, or write elsewhere.
func FuzzArguments(f *testing.F) {
	for _, line := range []string{
		"", "--help", "--version", "nonsense", "help query", "version", "completion zsh", "angles --near 37 --within 20", "devices --json",
		"integrate a.pgm -o out.npy", "integrate a.pgm b.npy --squares --tilted -o tables/ --json", "integrate - -o - --type f64 -v",
		"integrate a.pgm --workers -1", "integrate --volume v.npy -o out.npz", "integrate a.pgm --algorithm intimg/parallel --level portable",
		"query a.pgm --box 0,0,2,2 --boxes boxes.csv --json", "query --table t.npy --box -1,-1,9,9", "query --image t.npy --box 0,0,1,1 -v",
		"query --volume v.npy --box 0,0,0,2,2,2", "query a.pgm --rotate 1/2 --box 0,0,2,2", "query a.pgm --rect 1,1,2,2,30 --corner --within 4",
		"query b.npy --color keep --page 2 --as-stored --large --box 0,0,1,1", "query - --boxes boxes.csv",
		"histogram a.pgm --bins 4 --range 0,9 --clamp --weights a.pgm --box 0,0,2,2 -o look.png",
		"moments a.pgm --boxes boxes.csv --json", "haar a.pgm --feature EdgeX,0,0,2,2 --at 1,0 --corrected --rotate -1/2",
		"blur a.pgm -o out.png --radius 1", "blur a.pgm b.npy -o out/ --sigma 2 --passes 4 --json", "blur - -o - --window 2x3 --border clip",
		"local a.pgm -o out.npz --mean --std --median --entropy --guided --window 3", "local b.npy -o out.npy --normalize --floor 1 --border wrap --type f64",
		"threshold a.pgm -o out.png --method su", "match a.pgm b.npy", "match a.pgm b.pgm c.pgm --method ssd --top 3 --json", "match a.pgm b.npy --mask c.pgm -o out.npy --least 0.5 --apart 3 --subpixel", "threshold a.pgm b.npy -o out/ --method wolf --window 3x2 --k -0.5 --json", "threshold - -o out.tiff --map out.npy -m meanc --c -3 --border wrap",
		"detect a.pgm --cascade none --json", "detect a.pgm b.npy --cascade boxes.csv -o out/ --blur", "detect - --cascade a.pgm --angles all --min 3x2 --eval boxes.csv",
		"compare a.pgm a.pgm --json", "compare a.pgm -",
		"draw a.pgm --box 0,0,2,2 -o box.png --zoom --scale 3", "draw --feature LineX,0,0,3,1 --size 8x8 -o -",
		"bench --sizes 8x8 --types u8:u32 --workers 1", "reproduce list",
	} {
		f.Add(strings.ReplaceAll(line, " ", "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\n")
		if text == "" {
			args = nil
		}
		runArguments(t, args)
	})
}

// FuzzCommandLines does the same with command lines that are made of verbs, their flags
// and values as the command line's own model has them: most of them get past the parser.
func FuzzCommandLines(f *testing.F) {
	command, err := parse([]string{"version"}, io.Discard, io.Discard)
	if err != nil {
		f.Fatal(err)
	}
	verbs := verbsOf(command.Model)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 80 {
		choices := make([]byte, 3+rng.IntN(12))
		for i := range choices {
			choices[i] = byte(rng.Uint32())
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) { runArguments(t, commandLine(verbs, choices)) })
}

// The values of flags and arguments that have no list of words.
var (
	fileValues  = []string{"a.pgm", "b.npy", "v.npy", "t.npy", "-", "none.png", "boxes.csv", "*.npy", "."}
	otherValues = []string{
		"0,0,2,2", "-1,-1,9,9", "0,0,0,2,2,2", "1,1,2,2,30", "0,0,0,0", "1/2", "-1/1", "0/1", "7", "0", "-3", "1", "1e9", "99999999999999999999", "nan", "0.5",
		"EdgeX,0,0,2,2", "LineX,0,0,3,1", "8x8", "0x0", "0,9", "u8:u32", "f32", "u64", "i16", "boxes.csv", "a.pgm", "b.npy", "out.npy", "out.npz", "out.png",
		"tables/", "out.tiff", "out.ppm", "3x2", "2", "-", "", "keep", "skip", "é", "=", "1,0", "1;2",
	}
)

// commandLine is the command line that a list of choices makes.
func commandLine(verbs []verb, choices []byte) []string {
	next := func(n int) int {
		if len(choices) == 0 || n == 0 {
			return 0
		}
		c := choices[0]
		choices = choices[1:]
		return int(c) % n
	}
	v := verbs[next(len(verbs))]
	args := []string{v.name}
	for len(choices) > 0 && len(args) < 20 {
		switch kind := next(8); {
		case kind < 2 && len(v.words) > 0:
			args = append(args, v.words[next(len(v.words))])
		case kind < 2 || len(v.flags) == 0:
			args = append(args, fileValues[next(len(fileValues))])
		case kind == 7:
			args = append(args, otherValues[next(len(otherValues))])
		default:
			f := v.flags[next(len(v.flags))]
			names := f.names()
			name := names[next(len(names))]
			values := f.words
			if len(values) == 0 || next(8) == 0 {
				values = otherValues
			}
			switch {
			case !f.takes:
				args = append(args, name)
			case next(4) == 0:
				args = append(args, name+"="+values[next(len(values))])
			default:
				args = append(args, name, values[next(len(values))])
			}
		}
	}
	return args
}

// runArguments runs one command line.
func runArguments(t *testing.T, args []string) {
	t.Helper()
	if slices.ContainsFunc(args, tooMuch) {
		t.Skip("the command line would write outside of its folder, or take long")
	}
	root := t.TempDir()
	folder := filepath.Join(root, "here")
	writeArguments(t, folder)
	t.Chdir(folder)
	limit := 10 * time.Second
	if slices.Contains(args, "view") { // it serves until then
		limit = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var stdout, stderr strings.Builder
	if len(args) > 0 && (args[0] == "bench" || args[0] == "reproduce") {
		parse(args, &stdout, &stderr) // to measure takes long
		return
	}
	code := run(ctx, args, strings.NewReader("P2 2 1 255 1 2"), &stdout, &stderr)
	if ctx.Err() == nil && code != exitOK && code != exitError && code != exitUsage {
		t.Errorf("%q: exit code %d", args, code)
	}
	if (code != exitOK) != strings.Contains("\n"+stderr.String(), "\nboxsum: error: ") && ctx.Err() == nil {
		t.Errorf("%q: exit code %d and %q", args, code, &stderr)
	}
	asksItself := slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "-h" || arg == "--version" })
	if code == exitOK && slices.Contains(args, "--json") && isQuestion(args[0]) && !asksItself && !json.Valid([]byte(stdout.String())) {
		t.Errorf("%q: this is not JSON: %q", args, &stdout)
	}
	if strings.Contains(stderr.String(), "goroutine ") || strings.Contains(stderr.String(), ".tmp") {
		t.Errorf("%q: %s", args, &stderr)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("%q: wrote outside of its folder: %v, %v", args, entries, err)
	}
	left, err := filepath.Glob(filepath.Join(folder, ".*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q: left %v, %v", args, left, err)
	}
	for _, given := range []string{"a.pgm", "b.npy", "v.npy", "t.npy", "boxes.csv"} { // files appear whole, or not at all
		if info, err := os.Stat(filepath.Join(folder, given)); err != nil || info.Size() == 0 {
			t.Errorf("%q: %s is gone: %v", args, given, err)
		}
	}
}

// isQuestion reports whether a verb prints answers, and no table.
func isQuestion(verb string) bool {
	return slices.Contains([]string{"query", "histogram", "moments", "haar", "devices", "angles"}, verb)
}

// tooMuch reports whether an argument names another folder, a device, or something that
// takes very long.
func tooMuch(arg string) bool {
	lower := strings.ToLower(arg)
	for _, part := range []string{"..", "cuda", "opencl", "--demo", "\x00"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	if arg == "gpu" || strings.HasSuffix(lower, "=gpu") {
		return true
	}
	_, value, found := strings.Cut(arg, "=")
	path := arg
	if found {
		path = value
	}
	path = strings.TrimPrefix(path, "-o")
	return filepath.IsAbs(path) || strings.HasPrefix(path, "~")
}

// writeArguments makes the files that the arguments may name.
func writeArguments(t *testing.T, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.pgm": "P2 3 2 255 1 2 3 4 5 6", "boxes.csv": "x0,y0,x1,y1\n0,0,2,2\n1,1,3,2\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, a := range map[string][]string{
		"b.npy": {"f32", "2x3x2", "1", "-2", "0.5"}, "v.npy": {"u8", "3x4x5", "1", "2", "3"},
		"t.npy": {"u32", "3x3", "0", "0", "0", "0", "1", "3", "0", "4", "9"},
	} {
		if err := npyMake(filepath.Join(folder, name), a[0], a[1], a[2:]); err != nil {
			t.Fatal(err)
		}
	}
}
