package explore

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/detect"
	"github.com/boxsum/boxsum/internal/thresholds"
)

// A program is the code for one task in three languages.
type program struct {
	Go     string   `json:"go"`
	Python string   `json:"python"`
	Shell  string   `json:"shell"`
	File   string   `json:"file"`           // file that the programs read, if the page has to save it
	Save   *request `json:"save,omitempty"` // request that saves the file
}

// A coder writes programs about one image, volume or table.
type coder struct {
	info    Info
	file    string // file name for Go and the shell
	saved   string // file name for Python: the pixels as saved by the page
	channel int
	color   bool // the pixels are in color

	imports []string
	golang  []string
	python  []string
	shell   []string
}

// codeOf returns code that computes what the page shows. A slice of a volume and a part of a store are separate images,
// which the page saves.
func codeOf(ctx context.Context, doc Document, r *request) (any, []byte, error) {
	if r.What == nil {
		return nil, nil, refuse("the request has no member \"what\", the request to write code for")
	}
	q, info := *r.What, doc.Info()
	base := strings.TrimSuffix(info.Name, filepath.Ext(info.Name))
	c := &coder{info: *info, channel: q.Channel, saved: base + ".npy"}
	c.file = c.saved
	save := &request{Do: "save", Doc: r.Doc}
	write := c.image
	switch d := doc.(type) {
	case *picture:
		if q.Do == "filter" && d.colors() != nil {
			c.color, c.saved, save.Kind = true, base+"-color.npy", "color"
			c.file, c.info.Pixel, c.info.Low, c.info.High = c.saved, "uint8", 0, 255
		}
		if d.direct && !d.info.Demo && !(c.color && (d.info.Pixel != "uint8" || d.colors().img.Channels > 3)) {
			c.file = d.source
		}
	case *block:
		if q.Do == "boxes" {
			write = c.volumeBoxes
			break
		}
		if q.Z < 0 || q.Z >= d.info.Depth {
			return nil, nil, refuse("slice is %d, want 0 to %d", q.Z, d.info.Depth-1)
		}
		p, err := d.slice(ctx, q.Z)
		if err != nil {
			return nil, nil, err
		}
		c.of(p, fmt.Sprintf("%s-%d", base, q.Z))
		save.Kind, save.Z = "slice", q.Z
	case *stored:
		if q.Do == "boxes" && d.table != nil && d.info.Depth == 0 {
			c.saved, c.file, save, write = "", d.tableSource(), nil, c.storeBoxes
			break
		}
		if q.Z < 0 || q.Z >= max(d.info.Depth, 1) {
			return nil, nil, refuse("slice is %d, want 0 to %d", q.Z, max(d.info.Depth, 1)-1)
		}
		part, err := partOf(&q)
		if err != nil {
			return nil, nil, err
		}
		p, _, err := d.part(ctx, part, q.Z)
		if err != nil {
			return nil, nil, err
		}
		c.of(p, base+"-"+strings.ReplaceAll(join(part), ",", "-"))
		save.Box, save.Z = part, q.Z
	default:
		return nil, nil, refuse("code is not available for reports (boxsum reproduce writes them)")
	}
	if err := write(&q); err != nil {
		return nil, nil, err
	}
	return &program{c.goFile(), strings.Join(c.python, "\n") + "\n", strings.Join(c.shell, "\n") + "\n", c.saved, save}, nil, nil
}

// of makes the programs read a picture that the page saves under the given name.
func (c *coder) of(p *picture, name string) {
	c.info, c.saved = p.info, name+".npy"
	c.file = c.saved
}

// partOf returns the part of a store that a request uses, and moves the request's coordinates into it.
func partOf(q *request) ([]int, error) {
	part := q.Box
	for i, b := range q.Boxes {
		if len(b) != 4 {
			return nil, refuse("box has %d numbers, want 4", len(b))
		}
		if i == 0 {
			part = slices.Clone(b)
		}
		part = []int{min(part[0], b[0]), min(part[1], b[1]), max(part[2], b[2]), max(part[3], b[3])}
	}
	if len(part) != 4 {
		return nil, refuse("box has %d numbers, want 4", len(part))
	}
	x, y := max(part[0], 0), max(part[1], 0)
	move := func(b []int) []int { return []int{b[0] - x, b[1] - y, b[2] - x, b[3] - y} }
	boxes := make([][]int, len(q.Boxes))
	for i, b := range q.Boxes {
		boxes[i] = move(b)
	}
	if q.Boxes = boxes; len(q.Box) == 4 {
		q.Box = move(q.Box)
	}
	return part, nil
}

// image writes the programs for a request about an image.
func (c *coder) image(q *request) error {
	write := map[string]func(*request) error{
		"boxes": c.boxes, "rotated": c.rotated, "feature": c.feature, "moments": c.moments,
		"filter": c.filter, "threshold": c.threshold, "match": c.match, "detect": c.detect,
	}[q.Do]
	if write == nil {
		return refuse("code is not available for %q, want boxes, rotated, feature, moments, filter, threshold, match or detect", q.Do)
	}
	return write(q)
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// word quotes an argument for a shell, such that it cannot be taken for an option.
func word(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-,=+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func join(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]")
}

// list formats boxes as a Python list.
func list(boxes [][]int) string {
	var parts []string
	for _, b := range boxes {
		parts = append(parts, "["+spaced(join(b))+"]")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (c *coder) use(packages ...string) {
	for _, p := range packages {
		if !slices.Contains(c.imports, p) {
			c.imports = append(c.imports, p)
		}
	}
}

// goFile returns the complete Go program.
func (c *coder) goFile() string {
	var std, own []string
	for _, p := range c.imports {
		if strings.Contains(p, ".") {
			own = append(own, "\t"+quoted(p))
		} else {
			std = append(std, "\t"+quoted(p))
		}
	}
	slices.Sort(std)
	slices.Sort(own)
	text := "package main\n\nimport (\n" + strings.Join(std, "\n") + "\n\n" + strings.Join(own, "\n") + "\n)\n\nfunc main() {\n"
	for _, line := range c.golang {
		text += "\t" + line + "\n"
	}
	return text + "}\n\nfunc check(err error) {\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n}\n"
}

const module = "github.com/boxsum/boxsum"

// openImage writes the start of the programs, which opens the document's pixels.
func (c *coder) openImage() {
	c.use("log", module+"/imgio")
	c.golang = append(c.golang,
		fmt.Sprintf("img, file, err := imgio.OpenImage[%s](%q, imgio.Options{%s})", c.info.Pixel, c.file, map[bool]string{true: "Color: imgio.Keep"}[c.color]), "check(err)", "defer file.Close()")
	c.python = append(c.python, "import boxsum, numpy as np", "", fmt.Sprintf("image = np.load(%q)  # saved by Save pixels", c.saved))
}

func (c *coder) square() string {
	if strings.HasPrefix(c.info.Sum, "float") {
		return "float64"
	}
	return "uint64"
}

// pythonChannel returns the index that selects a channel of a result.
func (c *coder) pythonChannel() string {
	if c.info.Channels > 1 {
		return fmt.Sprintf("[..., %d]", c.channel)
	}
	return ""
}

// rectangles formats the boxes of a request for Go, with a constructor of n arguments, and for the shell.
func rectangles(q *request, n int, constructor string) (golang, shell string, err error) {
	var list, flags []string
	for _, b := range q.Boxes {
		if len(b) != n {
			return "", "", refuse("box has %d numbers, want %d", len(b), n)
		}
		list, flags = append(list, constructor+"("+spaced(join(b))+")"), append(flags, "--box "+join(b))
	}
	if len(list) == 0 {
		return "", "", refuse("no upright box is drawn, want at least one")
	}
	return strings.Join(list, ", "), strings.Join(flags, " "), nil
}

// spaced adds a space after each comma of a list of numbers.
func spaced(numbers string) string { return strings.ReplaceAll(numbers, ",", ", ") }

// statistics writes the end of the programs about boxes, which prints sums, means and deviations from a table.
func (c *coder) statistics(q *request, kind, boxes, more string) {
	c.golang = append(c.golang, "check(err)", "for _, box := range []"+kind+"{"+boxes+"} {",
		fmt.Sprintf("\tfmt.Println(table.Sum.SumChannel(box, %d), table.Mean(box, %d), table.StdDev(box, %d))", c.channel, c.channel, c.channel), "}")
	c.python = append(c.python, "boxes = "+list(q.Boxes))
	for _, call := range []string{"box_sum(sums, boxes", "box_mean(sums, boxes" + more, "box_std(sums, squares, boxes" + more} {
		c.python = append(c.python, "print(boxsum."+call+")"+c.pythonChannel()+".tolist())")
	}
}

func (c *coder) boxes(q *request) error {
	golang, shell, err := rectangles(q, 4, "image.Rect")
	if err != nil {
		return err
	}
	c.openImage()
	c.use("fmt", "image", module)
	types, skip, more := c.info.Sum+", "+c.square(), "", ""
	if c.info.Missing {
		c.golang = append(c.golang, "table, err := boxsum.IntegrateValid["+types+"](img, boxsum.Valid{SkipNaN: true}, nil)")
		c.python = append(c.python, `sums, squares, counts = boxsum.integral(image, squares=True, nan="skip")`)
		skip, more = " --nan skip", ", counts=counts"
	} else {
		c.golang = append(c.golang, "table, err := boxsum.IntegrateSquares["+types+"](img, nil)")
		c.python = append(c.python, "sums, squares = boxsum.integral(image, squares=True, dtype=np."+c.info.Sum+")")
	}
	c.statistics(q, "image.Rectangle", golang, more)
	c.shell = append(c.shell, "boxsum query "+word(c.file)+skip+" "+shell+" --json")
	return nil
}

func (c *coder) volumeBoxes(q *request) error {
	golang, shell, err := rectangles(q, 6, "volume.NewBox")
	if err != nil {
		return err
	}
	c.use("fmt", "log", module+"/imgio", module+"/volume")
	i := &c.info
	c.golang = append(c.golang, fmt.Sprintf("array, file, err := imgio.OpenNPY(%q)", c.saved), "check(err)", "defer file.Close()",
		fmt.Sprintf("v := volume.Volume[%s]{Pix: array.Data.([]%s), Width: %d, Height: %d, Depth: %d, Channels: %d, Stride: %d, SliceStride: %d}", i.Pixel, i.Pixel, i.Width, i.Height, i.Depth, i.Channels, i.Width*i.Channels, i.Width*i.Height*i.Channels),
		fmt.Sprintf("table, err := volume.IntegrateSquares[%s, %s](v, nil)", i.Sum, c.square()))
	c.python = append(c.python, "import boxsum, numpy as np", "", fmt.Sprintf("volume = np.load(%q)  # the voxels, as this page saves them", c.saved),
		"sums, squares = boxsum.volume(volume, squares=True, dtype=np."+i.Sum+")")
	c.statistics(q, "volume.Box", golang, "")
	c.shell = append(c.shell, "boxsum query --volume "+word(c.saved)+" "+shell+" --json")
	return nil
}

// storeBoxes writes the programs that query a table in a store.
func (c *coder) storeBoxes(q *request) error {
	golang, shell, err := rectangles(q, 4, "image.Rect")
	if err != nil {
		return err
	}
	c.use("context", "fmt", "image", "log", module+"/store")
	n := fmt.Sprintf("len(boxes)*%d", c.info.Channels)
	c.golang = append(c.golang, "ctx := context.Background()", fmt.Sprintf("table, err := store.Open(ctx, %q, nil)", c.file), "check(err)", "defer table.Close()", "boxes := []image.Rectangle{"+golang+"}",
		fmt.Sprintf("sums, means := make([]%s, %s), make([]float64, %s)", c.info.Sum, n, n), "check(store.SumBoxes(ctx, table, sums, boxes))", "check(table.MeanBoxes(ctx, means, boxes))", "fmt.Println(sums, means)")
	c.python = append(c.python, "import boxsum", "", fmt.Sprintf("table = boxsum.open(%q)", c.file), "boxes = "+list(q.Boxes), "print(table.box_sum(boxes).tolist())", "print(table.box_mean(boxes).tolist())")
	c.shell = append(c.shell, "boxsum query "+word(c.file)+" "+shell+" --json")
	return nil
}

func (c *coder) rotated(q *request) error {
	rot, err := rotationOf(q)
	if err != nil {
		return err
	}
	c.openImage()
	c.use("fmt", module+"/rotated")
	rect := strings.Trim(strings.ReplaceAll(fmt.Sprint(q.Rect), " ", ","), "[]")
	c.golang = append(c.golang, fmt.Sprintf("table, err := rotated.IntegrateSquares[%s, %s](img, rotated.Rotation{A: %d, B: %d}, nil)", c.info.Sum, c.square(), rot.A, rot.B), "check(err)",
		fmt.Sprintf("box, err := table.Sum.FromRectangle(rotated.Rectangle{X: %v, Y: %v, Width: %v, Height: %v, Degrees: %v})", q.Rect[0], q.Rect[1], q.Rect[2], q.Rect[3], q.Rect[4]), "check(err)",
		fmt.Sprintf("fmt.Println(table.Sum.SumChannel(box, %d), table.Mean(box, %d), table.StdDev(box, %d), table.Sum.Area(box))", c.channel, c.channel, c.channel))
	c.python = append(c.python, fmt.Sprintf("table = boxsum.rotated(image, %q)", rot), "box = table.nearest(["+spaced(rect)+"])",
		"print(table.sum(box)"+c.pythonChannel()+", table.mean(box)"+c.pythonChannel()+", table.area(box))")
	c.shell = append(c.shell, fmt.Sprintf("boxsum query %s --rotate %v --rect %s --json", word(c.file), rot, rect))
	return nil
}

func (c *coder) feature(q *request) error {
	f, at, rot, err := featureOf(q)
	if err != nil {
		return err
	}
	c.openImage()
	c.use("fmt", "image", module+"/haar")
	b := f.Bounds()
	number := "int64"
	if c.square() == "float64" {
		number = "float64"
	}
	table, plane, turn := fmt.Sprintf("boxsum.Integrate[%s](img, nil)", c.info.Sum), "Upright", ""
	python := "boxsum.integral(image)"
	if rot != nil {
		c.use(module + "/rotated")
		table, plane, turn = fmt.Sprintf("rotated.Integrate[%s](img, rotated.Rotation{A: %d, B: %d}, nil)", c.info.Sum, rot.A, rot.B), "Rotated", fmt.Sprintf(" --rotate %v", rot)
		python = fmt.Sprintf("boxsum.rotated(image, %q)", rot)
	} else {
		c.use(module)
	}
	c.golang = append(c.golang, "table, err := "+table, "check(err)", fmt.Sprintf("plane, err := haar.%s[%s](table, %d)", plane, number, c.channel), "check(err)",
		fmt.Sprintf("feature, err := haar.New(haar.%s, image.Rect(0, 0, %d, %d))", f.Kind(), b.Dx(), b.Dy()), "check(err)",
		fmt.Sprintf("value, err := plane.Value(feature, image.Pt(%d, %d))", at.X, at.Y), "check(err)", fmt.Sprintf("corrected, err := plane.Corrected(feature, image.Pt(%d, %d))", at.X, at.Y), "check(err)", "fmt.Println(value, corrected)")
	c.python = append(c.python, "table = "+python, fmt.Sprintf("feature = [[boxsum.KINDS.index(%q) + 1, 0, 0, %d, %d]]", f.Kind().String(), b.Dx(), b.Dy()),
		fmt.Sprintf("print(boxsum.haar(table, [[%d, %d]], size=(%d, %d), features=feature, channel=%d).item())", at.X, at.Y, b.Dx(), b.Dy(), c.channel),
		fmt.Sprintf("print(boxsum.haar(table, [[%d, %d]], size=(%d, %d), features=feature, channel=%d, corrected=True).item())", at.X, at.Y, b.Dx(), b.Dy(), c.channel))
	c.shell = append(c.shell, fmt.Sprintf("boxsum haar %s --feature %s,0,0,%d,%d --at %d,%d%s --json", word(c.file), f.Kind(), b.Dx(), b.Dy(), at.X, at.Y, turn))
	return nil
}

func (c *coder) moments(q *request) error {
	b, err := oneBox(q, 4)
	if err != nil {
		return err
	}
	c.openImage()
	c.use("fmt", "image", module+"/moments")
	c.golang = append(c.golang, "table, err := moments.Integrate(img, nil)", "check(err)", fmt.Sprintf("m := table.Moments(image.Rect(%s), %d)", spaced(join(b)), c.channel), "fmt.Println(m.M00, m.Hu())")
	c.python = append(c.python, "table = boxsum.moments(image)", "box = ["+spaced(join(b))+"]", `print(table.moments(box)["m00"].tolist(), table.hu(box).tolist())`)
	c.shell = append(c.shell, fmt.Sprintf("boxsum moments %s --box %s --json", word(c.file), join(b)))
	return nil
}

// saves writes the end of the programs, which saves the result to a file.
func (c *coder) saves(result string) {
	c.golang = append(c.golang, "check(err)", `check(imgio.Save("result.npy", result))`)
	c.python = append(c.python, `np.save("result.npy", `+result+")")
}

func (c *coder) filter(q *request) error {
	w, err := windowOf(q)
	if err != nil {
		return err
	}
	if c.info.Channels > 1 {
		return refuse("the image has %d channels, but code is only available for 1", c.info.Channels)
	}
	c.openImage()
	if q.Method != "clahe" && q.Method != "denoise" {
		c.use(module + "/filter")
	}
	n := w.Width
	float := "float32"
	if c.info.Pixel == "float64" {
		float = "float64"
	}
	color, local := " --color gray", ""
	if c.color {
		color, local = " --color keep", " --color keep"
	}
	var golang, python, shell string
	switch q.Method {
	case "box":
		golang, python, shell = fmt.Sprintf("filter.Box(img, filter.Square(%d), nil)", n), fmt.Sprintf("boxsum.box_filter(image, %d)", n), fmt.Sprintf("blur %s -o result.npy%s --window %d", word(c.file), color, n)
	case "gaussian":
		golang, python, shell = fmt.Sprintf("filter.Gaussian(img, filter.Sigma{X: %v, Y: %v}, nil)", q.Sigma, q.Sigma), fmt.Sprintf("boxsum.blur(image, sigma=%v)", q.Sigma), fmt.Sprintf("blur %s -o result.npy%s --sigma %v", word(c.file), color, q.Sigma)
	case "median":
		golang, python, shell = fmt.Sprintf("filter.Median(img, filter.Square(%d), nil)", n), fmt.Sprintf("boxsum.median(image, %d)", n), fmt.Sprintf("local %s -o result.npy%s --median --window %d", word(c.file), local, n)
	case "guided":
		golang, python, shell = fmt.Sprintf("filter.Guided(img, img, filter.Square(%d), %v, nil)", n, q.Epsilon), fmt.Sprintf("boxsum.guided(image, %d, %v)", n/2, q.Epsilon), fmt.Sprintf("local %s -o result.npy%s --guided --window %d --epsilon %v", word(c.file), local, n, q.Epsilon)
	case "percentile":
		c.use(module + "/rank")
		fraction := q.Percent / 100
		golang, python, shell = fmt.Sprintf("rank.Filter(img, rank.Percentile, filter.Square(%d), &rank.Options{Fraction: %v})", n, fraction), fmt.Sprintf("boxsum.rank_filter(image, 'percentile', %d, fraction=%v)", n, fraction), fmt.Sprintf("rank %s -o result.npy --statistic percentile --fraction %v --window %d", word(c.file), fraction, n)
	case "equalize":
		c.use(module + "/rank")
		golang, python, shell = fmt.Sprintf("rank.Filter(img, rank.Equalize, filter.Square(%d), nil)", n), fmt.Sprintf("boxsum.rank_filter(image, 'equalize', %d)", n), fmt.Sprintf("rank %s -o result.npy --statistic equalize --window %d", word(c.file), n)
	case "clahe":
		c.use(module + "/enhance")
		golang, python, shell = fmt.Sprintf("enhance.CLAHE(img, &enhance.Options{Clip: %v})", q.Clip), fmt.Sprintf("boxsum.clahe(image, %v)", q.Clip), fmt.Sprintf("equalize %s -o result.npy --clip %v", word(c.file), q.Clip)
		if c.color {
			golang, python = fmt.Sprintf("enhance.CLAHE(img, &enhance.Options{Clip: %v, Color: true})", q.Clip), fmt.Sprintf("boxsum.clahe(image, %v, color=True)", q.Clip)
		}
	case "denoise":
		c.use(module + "/denoise")
		strength := q.Strength * (c.info.High - c.info.Low) / 255
		golang, python, shell = fmt.Sprintf("denoise.NonLocalMeans(img, &denoise.Options{Strength: %v})", strength), fmt.Sprintf("boxsum.nl_means(image, %v)", strength), fmt.Sprintf("denoise %s -o result.npy --strength %v", word(c.file), strength)
	case "mean":
		golang, python, shell = fmt.Sprintf("filter.Mean[%s](img, filter.Square(%d), nil)", float, n), fmt.Sprintf("boxsum.local_mean(image, %d)", n), fmt.Sprintf("local %s -o result.npy%s --mean --window %d", word(c.file), local, n)
	case "std":
		golang, python, shell = fmt.Sprintf("filter.StdDev[%s](img, filter.Square(%d), nil)", float, n), fmt.Sprintf("boxsum.local_std(image, %d)", n), fmt.Sprintf("local %s -o result.npy%s --std --window %d", word(c.file), local, n)
	case "normalize":
		floor := (c.info.High - c.info.Low) / 255
		golang, python, shell = fmt.Sprintf("filter.Normalize[%s](img, filter.Square(%d), %v, nil)", float, n, floor), fmt.Sprintf("boxsum.normalize(image, %d, floor=%v)", n, floor), fmt.Sprintf("local %s -o result.npy%s --normalize --window %d --floor %v", word(c.file), local, n, floor)
	case "entropy":
		c.use(module + "/histogram")
		of, py, sh := "histogram.Bins{N: 64}", "bins=64", "--bins 64"
		if c.info.Pixel != "uint8" {
			of, py, sh = fmt.Sprintf("histogram.Bins{N: 64, Low: %v, High: %v, Clamp: true}", c.info.Low, c.info.High), fmt.Sprintf("bins=64, range=(%v, %v)", c.info.Low, c.info.High), fmt.Sprintf("--bins 64 --range %v,%v", c.info.Low, c.info.High)
		}
		golang, python, shell = fmt.Sprintf("filter.Entropy[%s](img, filter.Square(%d), %s, nil)", float, n, of), fmt.Sprintf("boxsum.entropy(image, %d, %s)", n, py), fmt.Sprintf("local %s -o result.npy%s --entropy --window %d %s", word(c.file), local, n, sh)
	default:
		return refuse("unknown filter %q, want box, gaussian, mean, std, normalize, median, entropy, guided, percentile, equalize, clahe or denoise", q.Method)
	}
	c.golang = append(c.golang, "result, err := "+golang)
	c.shell = append(c.shell, "boxsum "+shell)
	c.saves(python)
	return nil
}

func (c *coder) threshold(q *request) error {
	rule, err := ruleOf(q)
	if err != nil {
		return err
	}
	if c.info.Channels > 1 {
		return refuse("the image has %d channels, but code is only available for 1", c.info.Channels)
	}
	c.openImage()
	c.use(module + "/threshold")
	name, n := rule.Method.String(), rule.Window.Width
	names := map[thresholds.Method]string{thresholds.Sauvola: "Sauvola", thresholds.Niblack: "Niblack", thresholds.Wolf: "Wolf", thresholds.NICK: "NICK", thresholds.TRSingh: "TRSingh", thresholds.Phansalkar: "Phansalkar", thresholds.Bradley: "Bradley", thresholds.MeanC: "MeanC", thresholds.ISauvola: "ISauvola", thresholds.Su: "Su", thresholds.Otsu: "Otsu"}
	c.golang = append(c.golang, fmt.Sprintf("rule := threshold.New(threshold.%s, %d)", names[rule.Method], n))
	python, shell := "", ""
	if q.K != nil {
		field, py, sh := "K", "k", "--k"
		switch rule.Method {
		case thresholds.Bradley:
			field, py, sh = "T", "t", "--percent"
		case thresholds.MeanC:
			field, py, sh = "C", "c", "--c"
		}
		c.golang = append(c.golang, fmt.Sprintf("rule.%s = %v", field, *q.K))
		python, shell = fmt.Sprintf(", %s=%v", py, *q.K), fmt.Sprintf(" %s=%v", sh, *q.K)
	}
	c.golang = append(c.golang, "result, err := threshold.Binarize(img, rule, nil)")
	window, py := fmt.Sprintf(" --window %d", n), fmt.Sprintf(", window=%d", n)
	if rule.Method == thresholds.Otsu {
		window, py = "", ""
	}
	c.shell = append(c.shell, fmt.Sprintf("boxsum threshold %s -o result.npy --method %s%s%s", word(c.file), name, window, shell))
	c.saves(fmt.Sprintf("boxsum.binarize(image, %q%s%s)", name, py, python))
	return nil
}

func (c *coder) match(q *request) error {
	b, err := oneBox(q, 4)
	if err != nil {
		return err
	}
	if c.info.Channels > 1 {
		return refuse("the image has %d channels, but code is only available for 1", c.info.Channels)
	}
	c.openImage()
	c.use("fmt", module, module+"/match")
	method := map[string]string{"zncc": "ZNCC", "ncc": "NCC", "ssd": "SSD"}[q.Method]
	if method == "" {
		return refuse("unknown score %q, want zncc, ncc or ssd", q.Method)
	}
	c.golang = append(c.golang, fmt.Sprintf("template := boxsum.Image[%s]{Pix: img.Pix[%d*img.Stride+%d:], Stride: img.Stride, Width: %d, Height: %d, Channels: 1}", c.info.Pixel, b[1], b[0], b[2]-b[0], b[3]-b[1]),
		fmt.Sprintf("peaks, err := match.Find(img, template, match.%s, %d, nil)", method, q.Top), "check(err)", "for _, p := range peaks {", "\tfmt.Println(p.X, p.Y, p.Score)", "}")
	c.python = append(c.python, fmt.Sprintf("template = image[%d:%d, %d:%d]", b[1], b[3], b[0], b[2]), fmt.Sprintf("boxes, scores = boxsum.find(image, template, %d, method=%q)", q.Top, q.Method), "for (x, y, *_), score in zip(boxes, scores):", "    print(x, y, score)")
	c.shell = append(c.shell, "python3 -c "+word(fmt.Sprintf(`import numpy as np; np.save("template.npy", np.load(%q)[%d:%d, %d:%d])`, c.saved, b[1], b[3], b[0], b[2])), fmt.Sprintf("boxsum match %s template.npy --method %s --top %d --json", word(c.saved), q.Method, q.Top))
	return nil
}

func (c *coder) detect(q *request) error {
	if c.info.Pixel != "uint8" || c.info.Channels > 1 {
		return refuse("the image has %d channels of %s, but code is only available for 1 channel of uint8", c.info.Channels, c.info.Pixel)
	}
	c.openImage()
	c.use("fmt", module+"/detect")
	file := q.Cascade + ".xml"
	options, python, shell := fmt.Sprintf("Scale: %v, Neighbors: %d", q.Scale, q.Near), fmt.Sprintf("scale=%v, neighbors=%d", q.Scale, q.Near), fmt.Sprintf(" --scale %v --neighbors %d", q.Scale, q.Near)
	if q.Least > 0 {
		c.use("image")
		options += fmt.Sprintf(", Min: image.Pt(%d, %d)", q.Least, q.Least)
		python += fmt.Sprintf(", min_size=%d", q.Least)
		shell += fmt.Sprintf(" --min %d", q.Least)
	}
	if q.All {
		options, python, shell = options+", Angles: detect.AllAngles()", python+", angles="+strings.ReplaceAll(fmt.Sprint(detect.AllAngles()), " ", ", "), shell+" --angles all"
	} else if q.Angle != 0 {
		options, python, shell = options+fmt.Sprintf(", Angles: []float64{%v}", q.Angle), python+fmt.Sprintf(", angles=[%v]", q.Angle), shell+fmt.Sprintf(" --angles=%v", q.Angle)
	}
	c.golang = append(c.golang, fmt.Sprintf("cascade, err := detect.LoadFile(%q)", file), "check(err)", "found, err := cascade.Detect(img, &detect.Options{"+options+"})", "check(err)",
		"for _, f := range found {", "\tfmt.Println(f.Rect.Min.X, f.Rect.Min.Y, f.Rect.Dx(), f.Rect.Dy(), f.Angle, f.Score)", "}")
	c.python = append(c.python, fmt.Sprintf("cascade = boxsum.detect.Cascade(%q)", file), "found = cascade.detect(image, "+python+")", "print(found.boxes.tolist(), found.angles.tolist(), found.scores.tolist())")
	c.shell = append(c.shell, fmt.Sprintf("boxsum detect %s --cascade %s%s --json", word(c.file), word(file), shell))
	return nil
}
