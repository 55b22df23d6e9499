package zarr

import "slices"

// A Level is one resolution of an OME-Zarr image.
type Level struct {
	Path  string    // path of the level's array in the group
	Scale []float64 // size of an element along each axis; nil if not specified
}

// An Axis is an axis of an OME-Zarr image.
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

// Levels returns the resolutions of an OME-Zarr image (0.4 or 0.5), finest first, and its
// axes. Both are nil if the group is not an OME-Zarr image.
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
			return nil, nil, bad("path of a level is %q, want one inside the group, without backslashes", l.Path)
		}
		levels = append(levels, l)
	}
	return levels, scales[0].Axes, nil
}

// Multiscales returns the value of the attribute "ome" for an OME-Zarr image (0.5) with the
// given levels.
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
