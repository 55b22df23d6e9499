package zarr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/boxsum/boxsum/internal/raster"
)

// A Group contains arrays, other groups and attributes. It is safe for concurrent use.
type Group struct {
	bucket     Bucket
	path       string
	version    int
	attributes map[string]json.RawMessage
	members    map[string]json.RawMessage // consolidated metadata, or nil
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

// readMetadata returns the metadata at a key, or nil if there is none.
func readMetadata(ctx context.Context, b Bucket, key string) ([]byte, error) {
	data, err := b.Get(ctx, key, 0, -1, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(data) > maxMetadata {
		err = bad("%s has %d bytes, want at most %d", key, len(data), maxMetadata)
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// node opens the array or the group at a path in a bucket.
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
		return nil, nil, fmt.Errorf("not a Zarr array or group: zarr.json, .zarray and .zgroup are missing: %w", fs.ErrNotExist)
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
	return fmt.Errorf("%s: %w", at, err)
}

// parseNode parses metadata of version 3.
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
		return nil, nil, aboutPath(at, bad("zarr.json has zarr_format %d, want 3", g.ZarrFormat))
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

// OpenGroup opens the group at a path in a bucket, or at its root if path is "".
func OpenGroup(ctx context.Context, b Bucket, path string) (*Group, error) {
	_, g, err := node(ctx, b, path)
	if err == nil && g == nil {
		err = bad("%s is an array, not a group", place(path))
	}
	return raster.OrNil(g, err)
}

// CreateGroup writes the metadata of a group at a path in a bucket, or at its root if the path is
// "". It includes the metadata of the given arrays, whose keys are their paths in the group, so
// that readers need not request them one by one.
func CreateGroup(ctx context.Context, b Bucket, at string, attributes map[string]any, arrays map[string]*Array) (*Group, error) {
	m := map[string]any{"zarr_format": 3, "node_type": "group", "attributes": attributes}
	if attributes == nil {
		m["attributes"] = map[string]any{}
	}
	if len(arrays) > 0 {
		all := map[string]json.RawMessage{}
		for name, a := range arrays {
			all[name] = a.Metadata()
		}
		m["consolidated_metadata"] = map[string]any{"kind": "inline", "must_understand": false, "metadata": all}
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, raster.Invalid("attributes: %v", err)
	}
	at = strings.Trim(at, "/")
	_, g, err := parseNode(b, at, data)
	if err != nil {
		return nil, err
	}
	return raster.OrNil(g, b.Put(ctx, path.Join(at, "zarr.json"), append(data, '\n')))
}

// Attribute unmarshals the named attribute into v, as [json.Unmarshal] does. It reports
// whether the attribute exists.
func (g *Group) Attribute(name string, v any) (bool, error) {
	return attribute(g.attributes, name, v)
}

// Array opens the array at a path in the group.
func (g *Group) Array(ctx context.Context, name string) (*Array, error) {
	at := path.Join(g.path, name)
	switch data, ok := g.members[name]; {
	case ok && g.version == 3:
		a, _, err := parseNode(g.bucket, at, data)
		if err == nil && a == nil {
			err = bad("%s is a group, not an array", at)
		}
		return a, err
	case g.version == 2 && g.members[path.Join(name, ".zarray")] != nil:
		return parseArrayV2(g.bucket, at, g.members[path.Join(name, ".zarray")], g.members[path.Join(name, ".zattrs")])
	}
	a, _, err := node(ctx, g.bucket, at)
	if err == nil && a == nil {
		err = bad("%s is a group, not an array", at)
	}
	return a, err
}

// Arrays returns the paths of the arrays in the group and its subgroups, sorted.
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
