package method

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/boxsum/boxsum/gpu/internal/devmem"
	"github.com/boxsum/boxsum/gpu/internal/driver"
	"github.com/boxsum/boxsum/gpu/internal/kernels"
	"github.com/boxsum/boxsum/gpu/internal/kernels/jobs"
	"github.com/boxsum/boxsum/internal/cascade"
	"github.com/boxsum/boxsum/internal/raster"
)

const (
	detectBytes  = 4 << 30 // maximum memory of a launch
	detectGroups = 1 << 13 // work-groups that process lists of windows
	detectRoom   = 1 << 21 // maximum number of windows that pass, over all images of a launch
)

// detectStages holds the number of stages in each launch after the first. Between launches, the
// remaining windows are compacted into a list.
var detectStages = []int{2, 2, 3, 4}

// Detect finds windows in every image of a job.
func Detect(job Job, s *cascade.Search) ([][]cascade.Found, error) {
	all := make([][]cascade.Found, job.Count)
	if len(s.Layers) == 0 || job.Count == 0 {
		return all, nil
	}
	d := &detection{Job: job, search: s, found: all}
	if err := d.plan(); err != nil {
		return nil, err
	}
	for first := 0; first < job.Count; first += d.most {
		if err := job.ended(); err != nil {
			return nil, err
		}
		if err := d.run(first, min(d.most, job.Count-first)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// A detection is the state of one call of Detect.
type detection struct {
	Job
	search *cascade.Search
	found  [][]cascade.Found
	most   int // images at a time
	group  int
	c      jobs.Detect
	layers []jobs.DetectLayer

	layersAt, axesAt, stagesAt, treesAt, nodesAt, leaves driver.Memory
}

// plan lays out layers and windows, and sends the cascade to the device.
func (d *detection) plan() (err error) {
	s := d.search
	first, stages := kernels.DetectFirst(s.Patterns), kernels.DetectStages(s.Patterns)
	names := []string{kernels.DetectRows, kernels.DetectColumns, kernels.DetectSkip, first, stages}
	if s.Tilted {
		names = append(names, kernels.DetectDiagonals)
	}
	if d.group, err = d.Job.group(kernels.DetectGroup, names...); err != nil {
		return err
	}
	if d.group%32 != 0 {
		return raster.Unsupported("device has work-groups of %d work-items, but detection needs a multiple of 32", d.group)
	}
	c := &d.c
	c.InStride, c.InDistance = d.In.Stride, d.In.Distance
	c.Area, c.Most, c.Channels, c.Red, c.Blue = int64(s.Area), s.Most, int32(d.Channels), 9798, 3735
	if s.BlueFirst {
		c.Red, c.Blue = c.Blue, c.Red
	}
	if c.Kinds = 2; s.Tilted {
		c.Kinds = 3
	}
	for i, p := range s.Norm {
		c.NormSum[i] = int32(p.X | p.Y<<16)
	}
	var axes []int32
	var entries, words, rows, columns, windows int64
	for _, l := range s.Layers {
		to := jobs.DetectLayer{
			Width: int32(l.Width), Height: int32(l.Height), Stride: int32(devmem.RoundUp(int64(l.Width+1), 8)),
			Columns: int32(l.Columns), Rows: int32(l.Rows), Step: int32(l.Step), RowWords: int32(devmem.CeilDiv(l.Columns, 32)),
			Table: int32(entries), TableRow: int32(rows), TableColumn: int32(columns), WindowRow: int32(windows), Word: int32(words),
			AxisX: int32(len(axes)), AxisY: int32(len(axes) + l.Width),
		}
		axes = append(append(axes, l.AxisX...), l.AxisY...)
		entries += int64(to.Stride) * int64(l.Height+1)
		words += int64(to.RowWords) * int64(l.Rows)
		rows, columns, windows = rows+int64(l.Height), columns+int64(l.Width+1), windows+int64(l.Rows)
		d.layers = append(d.layers, to)
	}
	if entries > math.MaxInt32 || words > math.MaxInt32/32 || windows > math.MaxInt32 {
		return raster.Invalid("scales of the image of %d×%d pixels have %d table entries and %d windows, want at most %d of each", d.Width, d.Height, entries, 32*words, math.MaxInt32)
	}
	c.TableDistance, c.Words, c.TableRows, c.TableColumns, c.WindowRows = entries, int32(words), int32(rows), int32(columns), int32(windows)
	c.Layers = int32(len(d.layers))
	one := entries*4*int64(c.Kinds) + words*32*16 + words*8
	_, total, err := d.Device.Memory()
	if err != nil {
		return err
	}
	most := min(min(detectBytes, total/4)/one, math.MaxInt32/32/words, math.MaxInt32/max(rows, windows))
	d.most = int(max(1, min(most, int64(d.Count))))
	return d.sendCascade(axes)
}

// sendCascade copies the cascade to the device.
func (d *detection) sendCascade(axes []int32) error {
	s := d.search
	var stages []jobs.DetectStage
	for _, st := range s.Stages {
		stages = append(stages, jobs.DetectStage{First: st.First, End: st.End, Threshold: st.Threshold})
	}
	var trees []jobs.DetectTree
	for _, t := range s.Trees {
		trees = append(trees, jobs.DetectTree{Node: t.Node, Leaf: t.Leaf})
	}
	var nodes []jobs.DetectNode
	for i := range s.Nodes {
		n := &s.Nodes[i]
		to := jobs.DetectNode{Weights: n.Weights, Threshold: n.Threshold, Left: n.Left, Right: n.Right, Boxes: int32(n.Boxes), Subset: n.Subset}
		if n.Tilted {
			to.Table = 2
		}
		for k, p := range n.Corners {
			to.Corners[k] = int32(p.X | p.Y<<16)
		}
		nodes = append(nodes, to)
	}
	return d.send(
		upload{&d.layersAt, "detect layers", raw(d.layers)}, upload{&d.axesAt, "detect axes", raw(axes)}, upload{&d.stagesAt, "detect stages", raw(stages)},
		upload{&d.treesAt, "detect trees", raw(trees)}, upload{&d.nodesAt, "detect nodes", raw(nodes)}, upload{&d.leaves, "detect leaves", raw(s.Leaves)})
}

// run searches a range of images.
func (d *detection) run(first, count int) error {
	s, c, b := d.search, d.c, d.Device.Backend
	c.Images, c.InStart = int32(count), d.In.Offset+int64(first)*d.In.Distance
	c.Plane = c.TableDistance * int64(count)
	words := int64(c.Words) * int64(count)
	c.Room = int32(min(words*32, detectRoom))
	var tables, bits, lists, scores, counts driver.Memory
	listBytes := words * 32 * 8
	for _, part := range []struct {
		to    *driver.Memory
		name  string
		bytes int64
	}{
		{&tables, "tables", c.Plane * 4 * int64(c.Kinds)}, {&bits, "bits", words * 8}, {&lists, "list", listBytes},
		{&scores, "scores", int64(c.Room) * 8}, {&counts, "counts", 4 * 64},
	} {
		var err error
		if *part.to, _, err = d.Device.Workspace(d.Stream, "detect "+part.name, part.bytes); err != nil {
			return err
		}
	}
	others, _, err := d.Device.Workspace(d.Stream, "detect others", listBytes)
	if err != nil {
		return err
	}
	if err := b.Fill(d.Stream, driver.Plane{Memory: counts}, 0, 4*64); err != nil {
		return err
	}
	items := func(n int64) int64 { return devmem.CeilDiv(n, int64(d.group)) }
	images := int64(count)
	queue := []func() error{func() error {
		return d.launch(kernels.DetectRows, int64(c.TableRows)*images, d.group, arg(&c), arg(&d.In.Memory), arg(&d.layersAt), arg(&d.axesAt), arg(&tables))
	}}
	for right := range int32(2) {
		if s.Tilted {
			queue = append(queue, func() error {
				return d.launch(kernels.DetectDiagonals, items(int64(c.TableRows+c.TableColumns)*images), d.group, arg(&c), arg(&d.In.Memory), arg(&d.layersAt), arg(&d.axesAt), arg(&tables), arg(&right))
			})
		}
	}
	queue = append(queue, func() error {
		return d.launch(kernels.DetectColumns, items(int64(c.TableColumns)*images*int64(c.Kinds)), d.group, arg(&c), arg(&d.layersAt), arg(&tables))
	}, func() error {
		return d.launch(kernels.DetectFirst(s.Patterns), items(words*32), d.group, arg(&c), arg(&d.layersAt), arg(&tables), arg(&d.stagesAt), arg(&d.treesAt), arg(&d.nodesAt), arg(&d.leaves), arg(&bits))
	}, func() error {
		return d.launch(kernels.DetectSkip, items(int64(c.WindowRows)*images), d.group, arg(&c), arg(&d.layersAt), arg(&bits))
	})
	for _, launch := range queue {
		if err := launch(); err != nil {
			return err
		}
	}
	// The first of these launches reads windows from the bit masks. If there is only one stage,
	// it evaluates that stage again.
	from, to := others, lists
	at := min(1, len(s.Stages)-1)
	for i := 0; ; i++ {
		n := len(s.Stages)
		if i < len(detectStages) {
			n = detectStages[i]
		}
		c.First, c.End = int32(at), int32(min(at+n, len(s.Stages)))
		c.To, c.List, c.Last = int32(i), flag(i > 0), flag(int(c.End) == len(s.Stages))
		groups := items(words * 32)
		if i > 0 {
			groups = min(groups, detectGroups)
		}
		if err := d.launch(kernels.DetectStages(s.Patterns), groups, d.group, arg(&c), arg(&d.layersAt), arg(&tables), arg(&d.stagesAt), arg(&d.treesAt), arg(&d.nodesAt), arg(&d.leaves),
			arg(&bits), arg(&from), arg(&to), arg(&scores), arg(&counts)); err != nil {
			return err
		}
		if c.Last != 0 {
			break
		}
		at = int(c.End)
		from, to = to, from
	}
	return d.collect(first, counts, to, scores, &c)
}

// collect reads the windows that passed.
func (d *detection) collect(first int, counts, list, scores driver.Memory, c *jobs.Detect) error {
	var number [64]uint32
	read := func(from driver.Memory, to unsafe.Pointer, n int64) error {
		return d.Device.Backend.CopyOut(d.Stream, to, n, driver.Plane{Memory: from, Stride: n}, driver.Rows{Bytes: n, Count: 1})
	}
	b := d.Device.Backend
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&number[0])
	if err := driver.FirstError(read(counts, unsafe.Pointer(&number[0]), int64(4*len(number))), b.Wait(d.Stream)); err != nil {
		return err
	}
	n := int(number[c.To])
	if n > int(c.Room) && c.Images > 1 { // all images share the room
		half := int(c.Images) / 2
		if err := d.run(first, half); err != nil {
			return err
		}
		return d.run(first+half, int(c.Images)-half)
	}
	if n > int(c.Room) {
		return d.search.TooMany
	}
	if n == 0 {
		return nil
	}
	windows, sums := make([]uint32, n), make([]float64, n)
	pin.Pin(&windows[0])
	pin.Pin(&sums[0])
	err := driver.FirstError(read(list, unsafe.Pointer(&windows[0]), int64(4*n)), read(scores, unsafe.Pointer(&sums[0]), int64(8*n)))
	if err := driver.FirstError(err, b.Wait(d.Stream)); err != nil {
		return err
	}
	for i, bit := range windows {
		image, word := int(bit/32)/int(c.Words), int32(bit/32)%c.Words
		k := len(d.layers) - 1
		for d.layers[k].Word > word {
			k--
		}
		l := &d.layers[k]
		row := (word - l.Word) / l.RowWords
		column := (word-l.Word)%l.RowWords*32 + int32(bit%32)
		d.found[first+image] = append(d.found[first+image], cascade.Found{Layer: k, Column: int(column), Row: int(row), Score: sums[i]})
	}
	return nil
}
