package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A Group holds arrays and other groups.
type Group struct {
	bucket     Bucket
	path       string
	version    int
	attributes map[string]json.RawMessage
	members    map[string]json.RawMessage // metadata of what is in it, if it was consolidated
	owned      bool
}

type groupV3 struct {
	ZarrFormat   int                        `json:"zarr_format"`
	NodeType     string                     `json:"node_type"`
	Attributes   map[string]json.RawMessage `json:"attributes"`
	Consolidated *struct {
		Kind           string                     `json:"kind"`
		MustUnderstand bool                       `json:"must_understand"`
		Metadata       map[string]json.RawMessage `json:"metadata"`
	} `json:"consolidated_metadata,omitempty"`
}

// read is the metadata at a key, nil if it is not there.
func readMetadata(ctx context.Context, b Bucket, key string) ([]byte, error) {
	data, err := b.Get(ctx, key, 0, -1, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(data) > maxMetadata {
		err = bad("%s has %d bytes", key, len(data))
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// node is the array or the group at a path of a bucket.
func node(ctx context.Context, b Bucket, at string) (*Array, *Group, error) {
	at = strings.Trim(at, "/")
	data, err := readMetadata(ctx, b, path.Join(at, "zarr.json"))
	if err != nil {
		return nil, nil, err
	}
	if data != nil {
		return parseNode(b, at, data)
	}
	if data, err = readMetadata(ctx, b, path.Join(at, ".zarray")); err != nil {
		return nil, nil, err
	}
	attributes, err := readMetadata(ctx, b, path.Join(at, ".zattrs"))
	if err != nil {
		return nil, nil, err
	}
	if data != nil {
		a, err := parseArrayV2(b, at, data, attributes)
		return a, nil, err
	}
	if data, err = readMetadata(ctx, b, path.Join(at, ".zgroup")); err != nil {
		return nil, nil, err
	}
	if data == nil {
		return nil, nil, fmt.Errorf("store: no Zarr array or group here: it has no zarr.json, .zarray or .zgroup: %w", fs.ErrNotExist)
	}
	g := &Group{bucket: b, path: at, version: 2}
	if attributes != nil {
		if err := json.Unmarshal(attributes, &g.attributes); err != nil {
			return nil, nil, bad("%s: %v", path.Join(at, ".zattrs"), err)
		}
	}
	if data, err = readMetadata(ctx, b, path.Join(at, ".zmetadata")); err != nil {
		return nil, nil, err
	}
	if data != nil {
		var all struct {
			Metadata map[string]json.RawMessage `json:"metadata"`
		}
		if err := json.Unmarshal(data, &all); err != nil {
			return nil, nil, bad("%s: %v", path.Join(at, ".zmetadata"), err)
		}
		g.members = all.Metadata
	}
	return nil, g, nil
}

func parseArrayV2(b Bucket, at string, data, attributes []byte) (*Array, error) {
	m, err := parseV2(data)
	if err == nil && attributes != nil {
		if failed := json.Unmarshal(attributes, &m.attributes); failed != nil {
			err = bad("%v", failed)
		}
	}
	if err != nil {
		return nil, aboutPath(at, err)
	}
	return newArray(b, at, m), nil
}

func aboutPath(at string, err error) error {
	if at == "" {
		return err
	}
	return fmt.Errorf("store: %s: %w", at, err)
}

// parseNode reads metadata of version 3.
func parseNode(b Bucket, at string, data []byte) (*Array, *Group, error) {
	var g groupV3
	if err := json.Unmarshal(data, &g); err != nil {
		return nil, nil, aboutPath(at, bad("zarr.json: %v", err))
	}
	if g.NodeType != "group" {
		m, err := parseV3(data)
		if err != nil {
			return nil, nil, aboutPath(at, err)
		}
		return newArray(b, at, m), nil, nil
	}
	if g.ZarrFormat != 3 {
		return nil, nil, aboutPath(at, bad("zarr.json has format %d, and not 3", g.ZarrFormat))
	}
	if err := understood(data, knownV3); err != nil {
		return nil, nil, aboutPath(at, err)
	}
	group := &Group{bucket: b, path: at, version: 3, attributes: g.Attributes}
	if g.Consolidated != nil && g.Consolidated.Kind == "inline" {
		group.members = g.Consolidated.Metadata
	}
	return nil, group, nil
}

// OpenGroup opens the group at a path or URL, see [OpenBucket].
func OpenGroup(ctx context.Context, location string) (*Group, error) {
	b, err := OpenBucket(ctx, location, false)
	if err != nil {
		return nil, err
	}
	a, g, err := node(ctx, b, "")
	if err == nil && a != nil {
		err = bad("this is an array, and not a group")
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("store: %s: %w", Redacted(location), err)
	}
	g.owned = true
	return g, nil
}

// Close closes the bucket if the group was opened by its location.
func (g *Group) Close() error {
	if g.owned {
		return g.bucket.Close()
	}
	return nil
}

// Attribute reads an attribute into what v points to. It reports whether the group has it.
func (g *Group) Attribute(name string, v any) (bool, error) {
	data, ok := g.attributes[name]
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return true, bad("attribute %q: %v", name, err)
	}
	return true, nil
}

// Array opens an array in the group.
func (g *Group) Array(ctx context.Context, name string) (*Array, error) {
	at := path.Join(g.path, name)
	switch data, ok := g.members[name]; {
	case ok && g.version == 3:
		a, _, err := parseNode(g.bucket, at, data)
		if err == nil && a == nil {
			err = bad("%s is a group, and not an array", at)
		}
		return a, err
	case g.version == 2 && g.members[path.Join(name, ".zarray")] != nil:
		return parseArrayV2(g.bucket, at, g.members[path.Join(name, ".zarray")], g.members[path.Join(name, ".zattrs")])
	}
	a, _, err := node(ctx, g.bucket, at)
	if err == nil && a == nil {
		err = bad("%s is a group, and not an array", at)
	}
	return a, err
}

// Arrays lists the arrays in the group, also those in groups in it.
func (g *Group) Arrays(ctx context.Context) (names []string, err error) {
	if g.members != nil {
		for name, data := range g.members {
			var kind struct {
				NodeType string `json:"node_type"`
			}
			if v2, ok := strings.CutSuffix(name, ".zarray"); ok && g.version == 2 {
				names = append(names, strings.TrimSuffix(v2, "/"))
			} else if json.Unmarshal(data, &kind) == nil && kind.NodeType == "array" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names, nil
	}
	prefix := g.path
	if prefix != "" {
		prefix += "/"
	}
	err = g.bucket.List(ctx, prefix, func(o Object) error {
		name, base := path.Split(o.Key[len(prefix):])
		name = strings.TrimSuffix(name, "/")
		switch base {
		case ".zarray":
			names = append(names, name)
		case "zarr.json":
			if a, _, err := node(ctx, g.bucket, path.Join(g.path, name)); err == nil && a != nil {
				names = append(names, name)
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// A Level is one resolution of an OME-Zarr image.
type Level struct {
	Path  string    // of its array in the group
	Scale []float64 // size of an element along each axis, or nil
}

// An Axis is one of an OME-Zarr image.
type Axis struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
	Unit string `json:"unit,omitempty"`
}

type multiscale struct {
	Version  string `json:"version,omitempty"`
	Name     string `json:"name,omitempty"`
	Axes     []Axis `json:"axes"`
	Datasets []struct {
		Path       string           `json:"path"`
		Transforms []transformation `json:"coordinateTransformations"`
	} `json:"datasets"`
}

type transformation struct {
	Type  string    `json:"type"`
	Scale []float64 `json:"scale,omitempty"`
}

// Levels are the resolutions of an OME-Zarr image (0.4 and 0.5), the finest first, and its axes. There are none where
// the group is no such image.
func (g *Group) Levels() ([]Level, []Axis, error) {
	var scales []multiscale
	var ome struct {
		Multiscales []multiscale `json:"multiscales"`
	}
	if ok, err := g.Attribute("ome", &ome); err != nil {
		return nil, nil, err
	} else if ok {
		scales = ome.Multiscales
	}
	if scales == nil {
		if _, err := g.Attribute("multiscales", &scales); err != nil {
			return nil, nil, err
		}
	}
	if len(scales) == 0 {
		return nil, nil, nil
	}
	var levels []Level
	for _, d := range scales[0].Datasets {
		l := Level{Path: d.Path}
		for _, t := range d.Transforms {
			if t.Type == "scale" {
				l.Scale = t.Scale
			}
		}
		if checkKey(l.Path) != nil {
			return nil, nil, bad("the image has a level at %q", l.Path)
		}
		levels = append(levels, l)
	}
	return levels, scales[0].Axes, nil
}

// OpenArray opens the array at a path or URL, see [OpenBucket]. A group will do if it is an OME-Zarr image, of which it
// is the finest level, or if it has one array. Other levels and arrays are paths in the store: image.zarr/1.
//
// Files are arrays too, of which parts are read: TIFF and BigTIFF, .npy, pictures, and mosaics of many, see [IsMosaic].
func OpenArray(ctx context.Context, location string) (*Array, error) {
	return openArray(ctx, location, nil, outermost())
}

// openStored opens a Zarr array.
func openStored(ctx context.Context, location string) (*Array, error) {
	b, err := OpenBucket(ctx, location, false)
	if err != nil {
		return nil, err
	}
	a, err := arrayAt(ctx, b)
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("store: %s: %w", Redacted(location), err)
	}
	a.owned = true
	return a, nil
}

func arrayAt(ctx context.Context, b Bucket) (*Array, error) {
	a, g, err := node(ctx, b, "")
	if err != nil || a != nil {
		return a, err
	}
	levels, _, err := g.Levels()
	if err != nil {
		return nil, err
	}
	if len(levels) > 0 {
		return g.Array(ctx, levels[0].Path)
	}
	names, err := g.Arrays(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 1:
		return g.Array(ctx, names[0])
	case len(names) == 0:
		return nil, bad("the group has no array")
	}
	return nil, bad("the group has several arrays: add one of them to the path: %s", strings.Join(names[:min(len(names), 10)], ", "))
}

// ArrayAt opens the array at a path of a bucket; "" is its root.
func ArrayAt(ctx context.Context, b Bucket, at string) (*Array, error) {
	a, _, err := node(ctx, b, at)
	if err == nil && a == nil {
		err = bad("%s is a group, and not an array", at)
	}
	return a, err
}

// WriteGroup writes the metadata of a group, with that of arrays in it, so that a reader needs no more requests: they
// are given by their paths in the group.
func WriteGroup(ctx context.Context, b Bucket, at string, attributes map[string]any, arrays map[string]*Array) error {
	g := map[string]any{"zarr_format": 3, "node_type": "group", "attributes": attributes}
	if attributes == nil {
		g["attributes"] = map[string]any{}
	}
	if len(arrays) > 0 {
		all := map[string]json.RawMessage{}
		for name, a := range arrays {
			all[name] = a.m.json()
		}
		g["consolidated_metadata"] = map[string]any{"kind": "inline", "must_understand": false, "metadata": all}
	}
	data, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return fmt.Errorf("store: attributes: %w", err)
	}
	return b.Put(ctx, path.Join(strings.Trim(at, "/"), "zarr.json"), append(data, '\n'))
}

// Multiscales is the attribute "ome" of an OME-Zarr image (0.5) with these levels.
func Multiscales(name string, axes []Axis, levels []Level) map[string]any {
	m := multiscale{Name: name, Axes: axes}
	for _, l := range levels {
		scale := l.Scale
		if scale == nil {
			scale = slices.Repeat([]float64{1}, len(axes))
		}
		m.Datasets = append(m.Datasets, struct {
			Path       string           `json:"path"`
			Transforms []transformation `json:"coordinateTransformations"`
		}{l.Path, []transformation{{Type: "scale", Scale: scale}}})
	}
	return map[string]any{"version": "0.5", "multiscales": []multiscale{m}}
}
