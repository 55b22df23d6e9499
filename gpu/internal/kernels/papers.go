package kernels

import (
	"slices"

	"github.com/boxsum/boxsum/internal/launch"
)

// The kernels of package papers (papers.cl) are in two dialects too, in a module of
// their own. There is one program for each type of values.

// A papersInstance is a source with its macros, and the kernels in it.
type papersInstance struct {
	instance
	kernels []string
}

// papersInstances lists every instance.
var papersInstances = func() (all []papersInstance) {
	add := func(element string, macros [][2]string, names ...string) {
		i := papersInstance{instance: instance{
			file: "papers.cl", headers: []string{"dialect.h", "papers.h"},
			macros: append([][2]string{{"ELEMENT", element}}, macros...), group: launch.Group,
		}}
		for _, name := range names {
			i.kernels = append(i.kernels, launch.Kernel(name, element))
		}
		all = append(all, i)
	}
	scan := []string{"transpose", "scan", "increment"}
	whole := append(slices.Clone(scan), "rows", "columns", "prefix")
	add("f32", [][2]string{{"STREAMS", "1"}}, append(slices.Clone(whole), "stream", "stream4", "stream8")...)
	add("f64", nil, whole...)
	add("u32", nil, whole...)
	add("f32x4", [][2]string{{"FOUR", "1"}}, scan...)
	return all
}()

// papers is the instance that has a kernel, and false where it is none of package
// papers.
func papers(kernel string) (instance, bool) {
	for _, i := range papersInstances {
		if slices.Contains(i.kernels, kernel) {
			return i.instance, true
		}
	}
	return instance{}, false
}
