// Command throughput prints what LLVM's models of processors predict for the loops on arm64: those of the
// NEON kernels, and of portable Go for comparison. It prints the table in notes/performance-levels.md:
//
//	go run ./docs/throughput -mca llvm-mca-22 -objdump llvm-objdump-22
//
// The loops are those in a test binary, as compiled and assembled. A model knows the units of a processor
// and the latencies of instructions, but no caches and no memory.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// processors lists the models to use: Apple's, and Arm's newest for servers.
var processors = []string{"apple-m1", "neoverse-v2", "neoverse-v3"}

// A loop is a loop in a function of package kernel: the shortest one that contains an instruction and does
// not contain another.
type loop struct {
	function   string
	has, not   string // regular expressions; empty ones are ignored
	sumsAtOnce int
}

// A row is a row of the table.
type row struct {
	name           string
	neon, portable []loop // loops that are all needed for a sum
	floor          float64
}

// rows lists what people use most. The portable loops for a single channel contain an instruction or two
// that distinguish sums from squares.
var rows = []row{
	{"u8→u32", neon("u8u32x1", 64), single("uint8", "uint32", "ldrb", "mul|madd|tst"), 3},
	{"u8→u32, 3 channels", neon("u8u32x3", 192), single("uint8", "uint32", "csel", ""), 0},
	{"u8→u32, 4 channels", neon("u8u32x4", 64), single("uint8", "uint32", "csel", ""), 0},
	{"squares of u8 in u64", neon("u8u64Squaresx1", 32), single("uint8", "uint64", "madd", ""), 0},
	{"u8→f64", neon("u8f64x1", 32), blocks("uint8", "float64", 4), 0},
	{"u16→u64", neon("u16u64x1", 32), single("uint16", "uint64", "ldrh", "mul|madd|tst"), 0},
	{"f32→f32", neon("f32f32x1", 64), blocks("float32", "float32", 8), 3},
	{"f32→f64", neon("f32f64x1", 32), blocks("float32", "float64", 4), 0},
	{"volume, u8→u32", neon("u8u32x1Volume", 64), append(single("uint8", "uint32", "ldrb", "mul|madd|tst"), shape("layRow", "", "", 1, "uint32")...), 0},
	{"45°, u8→u32", neon("u8u32Tilted", 16), shape("tiltedSingle", "", "", 1, "uint8", "uint32"), 0},
	{"45°, f32→f32", neon("f32f32Tilted", 16), shape("tiltedSingle", "", "", 1, "float32", "float32"), 0},
	{"histogram, u32, a bin", neon("u32Bins", 32), shape("portableBins", "", "", 1, "uint32"), 0},
}

// neon returns the loop of an assembly kernel: the first one, which processes four rows.
func neon(name string, sums int) []loop { return []loop{{name + "NEON.abi0", "", "", sums}} }

// shape returns a loop of a generic function.
func shape(name, has, not string, sums int, types ...string) []loop {
	for i := range types {
		types[i] = "go.shape." + types[i]
	}
	return []loop{{name + "[" + strings.Join(types, ",") + "]", has, not, sums}}
}

// single returns the loop of one sum at a time, which the compiler has inlined into the function for a tile.
func single(pixel, sum, has, not string) []loop { return shape("portable", has, not, 1, pixel, sum) }

// blocks returns the loop of one block of floats at a time.
func blocks(pixel, sum string, sums int) []loop {
	return shape(fmt.Sprintf("blocksOf%d", sums), "", "", sums, pixel, sum)
}

func main() {
	log.SetFlags(0)
	mca := flag.String("mca", "llvm-mca", "this program of LLVM")
	objdump := flag.String("objdump", "llvm-objdump", "and this one")
	flag.Parse()
	if err := table(*mca, *objdump); err != nil {
		log.Fatal(err)
	}
}

func table(mca, objdump string) error {
	functions, err := disassemble(objdump)
	if err != nil {
		return err
	}
	fmt.Print("| cycles a sum, by LLVM's models |")
	for _, p := range processors {
		fmt.Printf(" %s: NEON | portable | ratio |", p)
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---|", 3*len(processors)))
	slow := false
	for _, r := range rows {
		fmt.Printf("| %s |", r.name)
		for _, p := range processors {
			fast, err := cycles(mca, p, functions, r.neon)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			plain, err := cycles(mca, p, functions, r.portable)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			fmt.Printf(" %.2f | %.2f | %.1f |", fast, plain, plain/fast)
			slow = slow || plain/fast < r.floor
		}
		fmt.Println()
	}
	if slow {
		return fmt.Errorf("u8→u32 or f32→f32 takes more than a third of portable's cycles")
	}
	return nil
}

// An instruction is one line of a disassembly.
type instruction struct {
	address uint64
	text    string
}

var (
	symbolLine = regexp.MustCompile(`^[0-9a-f]+ <(.*)>:$`)
	codeLine   = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(.*)$`)
	branch     = regexp.MustCompile(`^((?:b|b\.\w+|cbn?z|tbn?z)\s.*?)0x([0-9a-f]+) <.*>`)
)

// disassemble returns the functions of package kernel in a binary for arm64.
func disassemble(objdump string) (map[string][]instruction, error) {
	dir, err := os.MkdirTemp("", "throughput")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "kernel.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "github.com/boxsum/boxsum/internal/kernel")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	text, err := exec.Command(objdump, "-d", "--no-show-raw-insn", binary).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", objdump, err)
	}
	functions, current := map[string][]instruction{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := symbolLine.FindStringSubmatch(line); m != nil {
			name, ok := strings.CutPrefix(m[1], "github.com/boxsum/boxsum/internal/kernel.")
			current = ""
			if ok {
				current = name
			}
		} else if m := codeLine.FindStringSubmatch(line); m != nil && current != "" {
			address, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				return nil, err
			}
			code, _, _ := strings.Cut(m[2], "//")
			functions[current] = append(functions[current], instruction{address, strings.TrimSpace(code)})
		}
	}
	return functions, nil
}

// cycles returns the number of cycles of one sum in all of the loops.
func cycles(mca, processor string, functions map[string][]instruction, loops []loop) (all float64, err error) {
	for _, l := range loops {
		body, err := l.find(functions[l.function])
		if err != nil {
			return 0, err
		}
		// Simulate many rounds, and subtract the first ones.
		const rounds = 200
		some, err := simulate(mca, processor, body, rounds)
		if err != nil {
			return 0, err
		}
		more, err := simulate(mca, processor, body, 2*rounds)
		if err != nil {
			return 0, err
		}
		all += float64(more-some) / float64(rounds*l.sumsAtOnce)
	}
	return all, nil
}

// find returns the loop's instructions, from the target of a backward branch to the branch, without any
// inner loop.
func (l loop) find(code []instruction) ([]string, error) {
	at := map[uint64]int{}
	for i, c := range code {
		at[c.address] = i
	}
	var spans [][2]int
	for i, c := range code {
		if m := branch.FindStringSubmatch(c.text); m != nil {
			target, err := strconv.ParseUint(m[2], 16, 64)
			if err != nil {
				return nil, err
			}
			if first, ok := at[target]; ok && first <= i {
				spans = append(spans, [2]int{first, i})
			}
		}
	}
	for _, s := range spans {
		if slices.ContainsFunc(spans, func(o [2]int) bool { return o != s && s[0] <= o[0] && o[1] <= s[1] }) {
			continue
		}
		var body []string
		for _, c := range code[s[0] : s[1]+1] {
			body = append(body, branch.ReplaceAllString(c.text, "${1}loop"))
		}
		text := strings.Join(body, "\n")
		if regexp.MustCompile(l.has).MatchString(text) && (l.not == "" || !regexp.MustCompile(l.not).MatchString(text)) && strings.Contains(text, "st") {
			return body, nil
		}
	}
	return nil, fmt.Errorf("%s contains no loop that matches %q", l.function, l.has)
}

var totalCycles = regexp.MustCompile(`Total Cycles:\s+(\d+)`)

// simulate returns the number of cycles of some rounds of a loop.
func simulate(mca, processor string, body []string, rounds int) (int, error) {
	cmd := exec.Command(mca, "-mtriple=aarch64", "-mcpu="+processor, fmt.Sprintf("-iterations=%d", rounds))
	cmd.Stdin = strings.NewReader("loop:\n" + strings.Join(body, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", mca, err, stderr.Bytes())
	}
	m := totalCycles.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("the output of %s has no line with total cycles", mca)
	}
	return strconv.Atoi(string(m[1]))
}
