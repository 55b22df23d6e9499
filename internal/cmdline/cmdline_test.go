package cmdline

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

type color struct {
	Color string `enum:"gray,keep" default:"${color}" help:"What to do, ${color} unless told."`
}

type point struct{ x int }

type points []point

type work struct {
	Ins     []string `arg:"" optional:"" name:"IN" help:"Files."`
	Out     string   `short:"o" placeholder:"OUT" help:"Where to."`
	Verbose bool     `short:"v" help:"Say more."`
	Open    *bool    `negatable:"" help:"Open it."`
	Count   int      `default:"3" placeholder:"N" help:"How many (${default})."`
	Ratio   *float64 `short:"r" placeholder:"R" help:"A number."`
	Workers []int    `placeholder:"N" help:"Several."`
	At      *point   `placeholder:"X" help:"A point."`
	Points  points   `placeholder:"X" help:"Points."`
	A       bool     `xor:"one" help:"A."`
	B       bool     `xor:"one" help:"B."`
	color   `set:"color=keep"`
	AsNow   string `cmd:"-"`
	unseen  int    // no flag
}

type other struct {
	Truth  string `arg:"" name:"TRUTH" help:"First."`
	Second string `arg:"" name:"SECOND" help:"Second."`
	Must   string `required:"" placeholder:"M" help:"Needed."`
	color
}

type root struct {
	Work   work     `cmd:"" help:"Do it."`
	Other  other    `cmd:"" help:"Do another thing."`
	Secret struct{} `cmd:"" hidden:"" help:"Not shown."`
}

func line(t *testing.T) (*Line, *root) {
	t.Helper()
	r := &root{Work: work{unseen: 1}}
	parse := func(text string) (point, error) { n, err := strconv.Atoi(text); return point{n}, err }
	l, err := New("tool", "A tool.", r, map[string]string{"color": "gray"}, []Reader{
		ReaderOf("X", parse, func(to *point, p point) { *to = p }),
		ReaderOf("X", parse, func(to *points, p point) { *to = append(*to, p) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, r
}

func show(r *root) string {
	w := r.Work
	text := fmt.Sprintf("%v%s %v %v %v %v %v %v %s", w.Ins, w.Out, w.Verbose, w.Count, w.Workers, w.Points, w.A, w.B, w.Color)
	if w.Open != nil {
		text += fmt.Sprint(" open ", *w.Open)
	}
	if w.Ratio != nil {
		text += fmt.Sprint(" ratio ", *w.Ratio)
	}
	if w.At != nil {
		text += fmt.Sprint(" at ", *w.At)
	}
	return text
}

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"work":                                 "[] false 3 [] [] false false keep",
		"work a b":                             "[a b] false 3 [] [] false false keep",
		"work a -v b":                          "", // arguments go together
		"work -v a b":                          "[a b] true 3 [] [] false false keep",
		"work a --out=o --count 5":             "[a]o false 5 [] [] false false keep",
		"work -oo -r2.5":                       "[]o false 3 [] [] false false keep ratio 2.5",
		"work -vo o - --count=0x10":            "[-]o true 16 [] [] false false keep",
		"work --ratio=-1 --count=-2":           "[] false -2 [] [] false false keep ratio -1",
		"work --at -5 --points -1 --points=2":  "[] false 3 [] [{-1} {2}] false false keep at {-5}",
		"work --workers 1,2 --workers 3":       "[] false 3 [1 2 3] [] false false keep",
		"work --open":                          "[] false 3 [] [] false false keep open true",
		"work --no-open":                       "[] false 3 [] [] false false keep open false",
		"work --open=no --verbose=YES":         "[] true 3 [] [] false false keep open false",
		"work -- -v --out":                     "[-v --out] false 3 [] [] false false keep",
		"-- work":                              "[] false 3 [] [] false false keep",
		"work --color gray --a":                "[] false 3 [] [] true false gray",
		"work --count 1 --count 2 --out a -ob": "[]b false 2 [] [] false false keep",
	} {
		l, r := line(t)
		verb, asked, err := l.Parse(strings.Fields(args))
		if want == "" {
			if err == nil {
				t.Errorf("%s is taken: %s", args, show(r))
			}
			continue
		}
		if err != nil || asked != Work || verb == nil || verb.Name != "work" || show(r) != want {
			t.Errorf("%s: %v\n is  %s\nwant %s", args, err, show(r), want)
		}
	}
}

func TestErrors(t *testing.T) {
	for args, want := range map[string]string{
		"":                                 "expected a command",
		"wrok":                             `unexpected argument wrok, did you mean "work"?`,
		"sec":                              "unexpected argument sec",
		"nonsense":                         "unexpected argument nonsense",
		"work --cuont 1":                   `unknown flag --cuont, did you mean "--count"?`,
		"work -x":                          "unknown flag -x",
		"work -vx":                         "unknown flag -x",
		"--out o work":                     "unknown flag --out",
		"work --count":                     "--count: expected N",
		"work --color":                     "--color: expected one of gray,keep",
		"work --count x":                   `--count: expected a whole number but got "x"`,
		"work --workers 1,":                `--workers: expected a whole number but got ""`,
		"work --ratio x":                   `--ratio: expected a number but got "x"`,
		"work --count -2":                  `--count: expected N but got "-2"; perhaps try --count="-2"?`,
		"work --at":                        "--at: expected X",
		"work --at x":                      "--at: ",
		"work --open=x":                    "--open: must be true",
		"work --color red":                 `--color must be one of "gray","keep" but got "red"`,
		"work --a --b":                     "--a and --b can't be used together",
		"other --must=m":                   `expected "<TRUTH> <SECOND>"`,
		"other --must=m a":                 `expected "<SECOND>"`,
		"other --must=m a b c":             "unexpected argument c",
		"other a b":                        "missing flags: --must=M",
		"work --help --nonsense":           "unknown flag --nonsense",
		"work --version=x":                 "--version: must be true",
		"work --as-now x":                  "unknown flag --as-now",
		"work --unseen 1":                  "unknown flag --unseen",
		"work --color=":                    `--color must be one of "gray","keep" but got ""`,
		"work --no-verbose":                "unknown flag --no-verbose",
		"work --count 9999999999999999999": "--count: expected a whole number",
	} {
		l, _ := line(t)
		if _, _, err := l.Parse(strings.Fields(args)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "50")
	for args, want := range map[string]Asked{"--help": Help, "-h": Help, "other --help": Help, "work x -h": Help, "--version": Version, "other --version --help": Version} {
		l, _ := line(t)
		if _, asked, err := l.Parse(strings.Fields(args)); err != nil || asked != want {
			t.Errorf("%s: %v, %v", args, asked, err)
		}
	}
	l, _ := line(t)
	var all, one strings.Builder
	if err := l.WriteHelp(&all, nil); err != nil {
		t.Fatal(err)
	}
	l.Verbs[1].Detail = "More about it, in a line that is longer than fifty columns are.\n\n    tool other a b"
	if err := l.WriteHelp(&one, l.Verbs[1]); err != nil {
		t.Fatal(err)
	}
	if want := `Usage: tool <command> [flags]

A tool.

Flags:
  -h, --help       Show context-sensitive help.
      --version    Print the version and leave.

Commands:
  work     Do it.
  other    Do another thing.

Run "tool <command> --help" for more information on a command.
`; all.String() != want {
		t.Errorf("is\n%s", all.String())
	}
	if want := `Usage: tool other --must=M <TRUTH> <SECOND> [flags]

Do another thing.

More about it, in a line that is longer than fifty
columns are.

    tool other a b

Arguments:
  <TRUTH>     First.
  <SECOND>    Second.

Flags:
  -h, --help            Show context-sensitive
                        help.
      --version         Print the version and
                        leave.

      --must=M          Needed.
      --color="gray"    What to do, gray unless
                        told.
`; one.String() != want {
		t.Errorf("is\n%s", one.String())
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"work\n-vo\n--at", "other\n--\n-", "work\n--open=\n=\n-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, _ := line(t)
		verb, asked, err := l.Parse(strings.Split(text, "\n"))
		if err == nil && asked == Work && verb == nil {
			t.Error("neither a verb nor an error")
		}
	})
}
