package detect

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// Limits for cascade files. They bound memory, because the size that a file declares is
// never allocated before the data has been read.
const (
	maxFile   = 16 << 20
	maxDepth  = 16 // of nested elements
	maxStages = 1000
	maxNodes  = 1 << 12 // per tree
	maxWindow = 1 << 12
	// maxPixels ensures that the sum of squares of a window fits 32 bits.
	maxPixels = math.MaxUint32 / (255 * 255)

	subsetWords = 8 // one bit for each of 256 patterns
)

// LoadFile loads a cascade from the named file. The formats are those of [Load].
func LoadFile(path string) (*Cascade, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := Load(f)
	return c, inFile(path, err)
}

// LoadFS loads a cascade from the named file in fsys. The formats are those of [Load].
func LoadFS(fsys fs.FS, name string) (*Cascade, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := Load(f)
	return c, inFile(name, err)
}

func inFile(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Load reads a cascade in OpenCV's current XML format or in that of OpenCV 1. If the file
// is not a valid cascade, the error contains the line number.
func Load(r io.Reader) (*Cascade, error) {
	from := &source{Reader: r}
	limited := &io.LimitedReader{R: from, N: maxFile + 1}
	p := parser{xml: xml.NewDecoder(limited)}
	if err := p.document(); err != nil {
		if limited.N == 0 {
			err = fmt.Errorf("the file is too large, want at most %d MiB", maxFile>>20)
		}
		if from.err != nil {
			return nil, fmt.Errorf("reading a cascade: %w", from.err)
		}
		return nil, raster.Invalid("cascade: %w", err)
	}
	return &p.Cascade, nil
}

// A source remembers its reader's error, to distinguish it from errors in the XML.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// A parser reads one file. It stores the numbers of trees until the format of their nodes
// is known.
type parser struct {
	xml   *xml.Decoder
	words []byte // text before a token
	depth int
	Cascade

	featureType string
	categories  int // number of categories, for local binary patterns
	weak        []weak
	lines       []int // line numbers of features
	sections    map[string]bool
}

// A weak is a weak classifier as stored in the file.
type weak struct {
	line          int
	nodes, leaves []float64
}

func (p *parser) line() int {
	line, _ := p.xml.InputPos()
	return line
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", p.line(), fmt.Errorf(format, args...))
}

// token returns the next start or end of an element and the text before it, which is valid
// until the next call.
func (p *parser) token() (t xml.Token, text []byte, err error) {
	p.words = p.words[:0]
	for {
		t, err := p.xml.Token()
		var syntax *xml.SyntaxError
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return nil, nil, p.fail("unexpected end of file")
		case errors.As(err, &syntax):
			return nil, nil, fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
		case err != nil:
			return nil, nil, p.fail("%w", err)
		}
		switch t := t.(type) {
		case xml.CharData:
			p.words = append(p.words, t...)
		case xml.StartElement:
			if p.depth++; p.depth > maxDepth {
				return nil, nil, p.fail("elements are nested more than %d deep", maxDepth)
			}
			return t, p.words, nil
		case xml.EndElement:
			p.depth--
			return t, p.words, nil
		}
	}
}

// each calls f with the name of every child of the current element. f must read the child
// to its end.
func (p *parser) each(f func(name string) error) error {
	for {
		t, text, err := p.token()
		if err != nil {
			return err
		}
		if text := bytes.TrimSpace(text); len(text) > 0 {
			return p.fail("unexpected text %.20q between elements", text)
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		if err := f(start.Name.Local); err != nil {
			return err
		}
	}
}

// items is like each for lists, whose children are all named "_".
func (p *parser) items(what string, f func() error) error {
	return p.each(func(name string) error {
		if name != "_" {
			return p.fail("<%s> in the list of %s, want <_>", name, what)
		}
		return f()
	})
}

// skip reads the rest of an element.
func (p *parser) skip() error {
	for depth := p.depth; p.depth >= depth; {
		if _, _, err := p.token(); err != nil {
			return err
		}
	}
	return nil
}

// text returns the text of an element without children.
func (p *parser) text() (string, error) {
	t, text, err := p.token()
	if err != nil {
		return "", err
	}
	if start, ok := t.(xml.StartElement); ok {
		return "", p.fail("<%s> inside a text element", start.Name.Local)
	}
	return string(bytes.TrimSpace(text)), nil
}

// numbers returns the text of an element as numbers.
func (p *parser) numbers() ([]float64, error) {
	text, err := p.text()
	if err != nil {
		return nil, err
	}
	var all []float64
	for word := range strings.FieldsSeq(text) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || strings.ContainsAny(word, "xXpP_iInN") { // forms of numbers that Go accepts and OpenCV does not
			return nil, p.fail("%.20q is not a number", word)
		}
		all = append(all, v)
	}
	return all, nil
}

func (p *parser) number() (float64, error) {
	all, err := p.numbers()
	if err == nil && len(all) != 1 {
		err = p.fail("element has %d numbers, want 1", len(all))
	}
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

func (p *parser) single(to *float32) error {
	v, err := p.number()
	*to = float32(v)
	if err == nil && math.IsInf(float64(*to), 0) {
		err = p.fail("number %g does not fit in a float32", v)
	}
	return err
}

func (p *parser) integer(to *int, least, most int) error {
	v, err := p.number()
	if err != nil {
		return err
	}
	if !(v >= float64(least) && v <= float64(most) && v == math.Trunc(v)) {
		return p.fail("number is %v, want an integer from %d to %d", v, least, most)
	}
	*to = int(v)
	return nil
}

// once returns an error if the file repeats a section.
func (p *parser) once(name string) error {
	if p.sections[name] {
		return p.fail("<%s> appears twice", name)
	}
	p.sections[name] = true
	return nil
}

func (p *parser) document() error {
	t, _, err := p.token()
	if err != nil {
		return err
	}
	if start, ok := t.(xml.StartElement); !ok || start.Name.Local != "opencv_storage" {
		return p.fail("not an OpenCV cascade: <opencv_storage> is missing")
	}
	t, _, err = p.token()
	if err != nil {
		return err
	}
	start, ok := t.(xml.StartElement)
	if !ok {
		return p.fail("the file is empty")
	}
	typeID := ""
	for _, a := range start.Attr {
		if a.Name.Local == "type_id" {
			typeID = a.Value
		}
	}
	p.sections = map[string]bool{}
	switch {
	case typeID == "opencv-cascade-classifier", typeID == "" && start.Name.Local == "cascade":
		err = p.parseCurrent()
	case typeID == "opencv-haar-classifier":
		err = p.parseOpenCV1()
	default:
		err = p.fail("<%.40s type_id=%.40q> is not a cascade, want type_id opencv-cascade-classifier or opencv-haar-classifier", start.Name.Local, typeID)
	}
	if err != nil {
		return err
	}
	if err := p.skip(); err != nil { // skip the rest of the storage
		return err
	}
	return p.check()
}

// parseCurrent reads the current file format.
func (p *parser) parseCurrent() error {
	stages := -1
	err := p.each(func(name string) error {
		switch name {
		case "stageType", "featureType", "width", "height", "featureParams", "stageNum", "stages", "features":
			if err := p.once(name); err != nil {
				return err
			}
		}
		switch name {
		case "stageType":
			text, err := p.text()
			if err == nil && text != "BOOST" {
				err = p.fail("unknown stage type %.20q, want BOOST", text)
			}
			return err
		case "featureType":
			text, err := p.text()
			p.featureType = text
			switch {
			case err != nil:
			case text == "HAAR":
			case text == "LBP":
				p.kind = LBP
			default:
				err = p.fail("unknown feature type %.20q, want HAAR or LBP", text)
			}
			return err
		case "width":
			return p.integer(&p.size.X, 3, maxWindow)
		case "height":
			return p.integer(&p.size.Y, 3, maxWindow)
		case "featureParams":
			return p.each(func(name string) error {
				if name == "maxCatCount" {
					return p.integer(&p.categories, 0, 256)
				}
				return p.skip()
			})
		case "stageNum":
			return p.integer(&stages, 1, maxStages)
		case "stages":
			return p.items("stages", p.stage)
		case "features":
			return p.items("features", p.feature)
		}
		return p.skip()
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"featureType", "width", "height", "stages", "features"} {
		if !p.sections[name] {
			return p.fail("the cascade has no <%s>", name)
		}
	}
	if stages >= 0 && stages != len(p.stages) {
		return p.fail("the cascade has %d stages, but stageNum is %d", len(p.stages), stages)
	}
	if want := map[Kind]int{LBP: 256}[p.kind]; p.categories != want {
		return p.fail("maxCatCount is %d, want %d for %v", p.categories, want, p.kind)
	}
	return p.buildTrees()
}

func (p *parser) stage() error {
	if len(p.stages) == maxStages {
		return p.fail("more than %d stages", maxStages)
	}
	s := stage{trees: span{first: int32(len(p.weak))}}
	threshold, trees, count := false, false, -1
	err := p.each(func(name string) error {
		switch name {
		case "stageThreshold":
			threshold = true
			return p.single(&s.threshold)
		case "maxWeakCount":
			return p.integer(&count, 0, math.MaxInt32)
		case "weakClassifiers":
			trees = true
			return p.items("weak classifiers", p.weakClassifier)
		}
		return p.skip()
	})
	s.trees.end = int32(len(p.weak))
	switch {
	case err != nil:
	case !threshold:
		err = p.fail("stage %d has no <stageThreshold>", len(p.stages))
	case !trees || s.trees.len() == 0:
		err = p.fail("stage %d has no weak classifiers", len(p.stages))
	case count >= 0 && count != s.trees.len():
		err = p.fail("stage %d has %d weak classifiers, but maxWeakCount is %d", len(p.stages), s.trees.len(), count)
	}
	p.stages = append(p.stages, s)
	return err
}

func (p *parser) weakClassifier() error {
	var w weak
	err := p.each(func(name string) (err error) {
		switch name {
		case "internalNodes":
			w.nodes, err = p.numbers()
		case "leafValues":
			w.leaves, err = p.numbers()
		default:
			err = p.skip()
		}
		return err
	})
	w.line = p.line()
	p.weak = append(p.weak, w)
	return err
}

func (p *parser) feature() error {
	if p.featureType == "" {
		return p.fail("<features> before <featureType>")
	}
	var f feature
	boxes := 0
	add := func() (err error) {
		most := 1
		if p.kind == Haar {
			most = len(f.boxes)
		}
		if boxes == most {
			return p.fail("a feature has more than %d boxes", most)
		}
		f.boxes[boxes], f.weights[boxes], err = p.box()
		boxes++
		return err
	}
	err := p.each(func(name string) error {
		switch {
		case name == "rects" && p.kind == Haar:
			return p.items("rects", add)
		case name == "rect" && p.kind == LBP:
			return add()
		case name == "tilted" && p.kind == Haar:
			return p.tilt(&f)
		}
		return p.skip()
	})
	if err == nil && boxes == 0 {
		err = p.fail("feature %d has no boxes", len(p.features))
	}
	p.features = append(p.features, f)
	p.lines = append(p.lines, p.line())
	return err
}

func (p *parser) tilt(f *feature) error {
	v := 0
	err := p.integer(&v, 0, 1)
	f.tilted = v == 1
	return err
}

// box reads x, y, width, height and, for Haar-like features, the weight.
func (p *parser) box() (b box, weight float32, err error) {
	v, err := p.numbers()
	n := 5
	if p.kind == LBP {
		n = 4
	}
	if err == nil && len(v) != n {
		err = p.fail("box has %d numbers, want %d", len(v), n)
	}
	if err != nil {
		return b, 0, err
	}
	for i, to := range []*int16{&b.x, &b.y, &b.w, &b.h} {
		if !(v[i] >= 0 && v[i] <= maxWindow && v[i] == math.Trunc(v[i])) {
			return b, 0, p.fail("box is %v, want integers from 0 to %d", v[:4], maxWindow)
		}
		*to = int16(v[i])
	}
	if n == 5 {
		weight = float32(v[4])
		if math.IsInf(float64(weight), 0) {
			return b, 0, p.fail("weight is %g, want a number that fits in a float32", v[4])
		}
	}
	return b, weight, nil
}

// buildTrees converts the numbers of the weak classifiers to trees.
func (p *parser) buildTrees() error {
	size := 4
	if p.kind == LBP {
		size = 3 + subsetWords
	}
	for i := range p.weak {
		w := &p.weak[i]
		if err := p.grow(w, size); err != nil {
			return fmt.Errorf("line %d: tree %d: %w", w.line, i, err)
		}
	}
	p.weak = nil
	return nil
}

func (p *parser) grow(w *weak, size int) error {
	n := len(w.nodes) / size
	if n == 0 || n*size != len(w.nodes) {
		return fmt.Errorf("nodes have %d numbers, want a positive multiple of %d", len(w.nodes), size)
	}
	nodes, subsets := make([]node, n), [][subsetWords]uint32(nil)
	leaves := make([]float32, len(w.leaves))
	for i, v := range w.leaves {
		leaves[i] = float32(v)
		if math.IsInf(float64(leaves[i]), 0) {
			return fmt.Errorf("leaf %d is %g, want a number that fits in a float32", i, v)
		}
	}
	for i := range nodes {
		v := w.nodes[i*size:][:size]
		for _, v := range v[:3] {
			if !(v >= -maxNodes && v <= math.MaxInt32 && v == math.Trunc(v)) {
				return fmt.Errorf("node %d refers to %v, want the index of a node, a leaf or a feature", i, v)
			}
		}
		child := func(v float64) int32 {
			if v > 0 {
				return int32(v)
			}
			return ^int32(-v)
		}
		nodes[i] = node{feature: int32(v[2]), left: child(v[0]), right: child(v[1])}
		if p.kind == Haar {
			nodes[i].threshold = float32(v[3])
			if math.IsInf(float64(nodes[i].threshold), 0) {
				return fmt.Errorf("threshold of node %d is %g, want a number that fits in a float32", i, v[3])
			}
			continue
		}
		var subset [subsetWords]uint32
		for k, v := range v[3:] {
			if !(v >= math.MinInt32 && v <= math.MaxInt32 && v == math.Trunc(v)) {
				return fmt.Errorf("a pattern of node %d is %v, want a 32-bit integer", i, v)
			}
			subset[k] = uint32(int32(v))
		}
		subsets = append(subsets, subset)
	}
	return p.tree(nodes, subsets, leaves)
}

// tree adds a tree with its nodes reordered so that parents precede children.
func (p *parser) tree(nodes []node, subsets [][subsetWords]uint32, leaves []float32) error {
	if len(nodes) > maxNodes {
		return fmt.Errorf("tree has %d nodes, want at most %d", len(nodes), maxNodes)
	}
	order, err := parentsFirst(nodes, len(leaves))
	if err != nil {
		return err
	}
	place := make([]int32, len(nodes))
	for i, n := range order {
		place[n] = int32(i)
	}
	t := tree{span{first: int32(len(p.nodes))}, span{first: int32(len(p.leaves))}}
	for _, i := range order {
		n := nodes[i]
		for _, child := range []*int32{&n.left, &n.right} {
			if *child >= 0 {
				*child = place[*child]
			}
		}
		p.nodes = append(p.nodes, n)
		if subsets != nil {
			p.subsets = append(p.subsets, subsets[i])
		}
	}
	p.leaves = append(p.leaves, leaves...)
	t.nodes.end, t.leaves.end = int32(len(p.nodes)), int32(len(p.leaves))
	p.trees = append(p.trees, t)
	return nil
}

// parentsFirst returns the reachable nodes in an order in which parents precede their
// children.
func parentsFirst(nodes []node, leaves int) ([]int32, error) {
	const (
		unseen = iota
		open
		done
	)
	state := make([]uint8, len(nodes))
	type visit struct{ node, children int32 }
	var after []int32 // children first
	for stack := []visit{{}}; len(stack) > 0; {
		v := &stack[len(stack)-1]
		state[v.node] = open
		if v.children == 2 {
			state[v.node] = done
			after = append(after, v.node)
			stack = stack[:len(stack)-1]
			continue
		}
		child := nodes[v.node].left
		if v.children == 1 {
			child = nodes[v.node].right
		}
		v.children++
		switch {
		case child < 0 && int(^child) >= leaves:
			return nil, fmt.Errorf("node %d refers to leaf %d, want 0 to %d", v.node, ^child, leaves-1)
		case child < 0:
		case int(child) >= len(nodes):
			return nil, fmt.Errorf("node %d refers to node %d, want 0 to %d", v.node, child, len(nodes)-1)
		case state[child] == open:
			return nil, fmt.Errorf("node %d refers to node %d, its ancestor, want a descendant", v.node, child)
		case state[child] == unseen:
			stack = append(stack, visit{node: child})
		}
	}
	for i, j := 0, len(after)-1; i < j; i, j = i+1, j-1 {
		after[i], after[j] = after[j], after[i]
	}
	return after, nil
}

// parseOpenCV1 reads the format of OpenCV 1, in which every node has its own feature.
func (p *parser) parseOpenCV1() error {
	err := p.each(func(name string) error {
		switch name {
		case "size":
			if err := p.once(name); err != nil {
				return err
			}
			v, err := p.numbers()
			if err != nil {
				return err
			}
			for i, to := range []*int{&p.size.X, &p.size.Y} {
				if len(v) != 2 || !(v[i] >= 3 && v[i] <= maxWindow && v[i] == math.Trunc(v[i])) {
					return p.fail("size is %v, want two integers from 3 to %d", v, maxWindow)
				}
				*to = int(v[i])
			}
			return nil
		case "stages":
			if err := p.once(name); err != nil {
				return err
			}
			return p.items("stages", p.oldStage)
		}
		return p.skip()
	})
	if err == nil && (!p.sections["size"] || !p.sections["stages"]) {
		err = p.fail("the cascade has no <size> or no <stages>")
	}
	return err
}

func (p *parser) oldStage() error {
	if len(p.stages) == maxStages {
		return p.fail("more than %d stages", maxStages)
	}
	s := stage{trees: span{first: int32(len(p.trees))}}
	threshold := false
	err := p.each(func(name string) error {
		switch name {
		case "stage_threshold":
			threshold = true
			return p.single(&s.threshold)
		case "trees":
			return p.items("trees", p.oldTree)
		}
		return p.skip()
	})
	s.trees.end = int32(len(p.trees))
	switch {
	case err != nil:
	case !threshold:
		err = p.fail("stage %d has no <stage_threshold>", len(p.stages))
	case s.trees.len() == 0:
		err = p.fail("stage %d has no trees", len(p.stages))
	}
	p.stages = append(p.stages, s)
	return err
}

func (p *parser) oldTree() error {
	var nodes []node
	var leaves []float32
	err := p.items("nodes", func() error {
		if len(nodes) == maxNodes {
			return p.fail("a tree has more than %d nodes", maxNodes)
		}
		n := node{feature: int32(len(p.features))}
		var children [2]int // 0 if there is no child
		var values [2]float32
		var has [2]bool
		feature, threshold := false, false
		err := p.each(func(name string) error {
			switch name {
			case "feature":
				feature = true
				p.featureType = "HAAR"
				return p.feature()
			case "threshold":
				threshold = true
				return p.single(&n.threshold)
			case "left_node":
				return p.integer(&children[0], 1, maxNodes)
			case "right_node":
				return p.integer(&children[1], 1, maxNodes)
			case "left_val":
				has[0] = true
				return p.single(&values[0])
			case "right_val":
				has[1] = true
				return p.single(&values[1])
			}
			return p.skip()
		})
		if err == nil && (!feature || !threshold) {
			err = p.fail("a node has no <feature> or no <threshold>")
		}
		if err == nil && len(p.features) != int(n.feature)+1 {
			err = p.fail("a node has more than one feature")
		}
		for i, to := range []*int32{&n.left, &n.right} {
			switch {
			case err != nil:
			case has[i] == (children[i] != 0):
				err = p.fail("each side of a node must have either a value or another node")
			case has[i]:
				*to = ^int32(len(leaves))
				leaves = append(leaves, values[i])
			default:
				*to = int32(children[i])
			}
		}
		nodes = append(nodes, n)
		return err
	})
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		return p.fail("tree %d has no nodes", len(p.trees))
	}
	if err := p.tree(nodes, nil, leaves); err != nil {
		return p.fail("tree %d: %w", len(p.trees), err)
	}
	return nil
}

// check validates what requires the whole file.
func (p *parser) check() error {
	if len(p.stages) == 0 {
		return errors.New("the cascade has 0 stages, want 1 or more")
	}
	if n := p.size.X * p.size.Y; n > maxPixels {
		return fmt.Errorf("window is %d×%d, want at most %d pixels", p.size.X, p.size.Y, maxPixels)
	}
	for i := range p.features {
		f := &p.features[i]
		if err := f.check(p.kind, p.size.X, p.size.Y); err != nil {
			return fmt.Errorf("line %d: feature %d: %w", p.lines[i], i, err)
		}
		p.tilted = p.tilted || f.tilted
	}
	for i := range p.stages {
		s := &p.stages[i]
		s.threshold -= 1e-5 // as OpenCV does, in float32
		s.stumps = true
		for t, tree := range p.trees[s.trees.first:s.trees.end] {
			s.stumps = s.stumps && tree.nodes.len() == 1
			for _, n := range p.nodes[tree.nodes.first:tree.nodes.end] {
				if n.feature < 0 || int(n.feature) >= len(p.features) {
					return fmt.Errorf("stage %d, tree %d: feature is %d, want 0 to %d", i, t, n.feature, len(p.features)-1)
				}
			}
		}
	}
	return nil
}

// check returns an error if a box extends beyond the window.
func (f *feature) check(kind Kind, width, height int) error {
	for i, b := range f.boxes {
		x, y, w, h := int(b.x), int(b.y), int(b.w), int(b.h)
		left, right, bottom := x, x+w, y+h
		switch {
		case kind == LBP:
			right, bottom = x+3*w, y+3*h
		case f.tilted:
			left, right, bottom = x-h, x+w, y+w+h
		}
		if left < 0 || right > width || bottom > height {
			return fmt.Errorf("box %d is %d %d %d %d (x, y, width, height), want one inside the window of %d×%d", i, x, y, w, h, width, height)
		}
	}
	return nil
}
