package papers

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

// algorithms.json describes the works and their algorithms. The code of each algorithm is here, by
// name, with the cost of those whose cost depends on the size.
//
//go:embed algorithms.json
var catalog []byte

var code = map[string]Algorithm{
	"bilgic/sequential": {cpu: hostCode{whole: true, f32: bilgicSequential[float32], f64: bilgicSequential[float64]}},
	"bilgic/scan-transpose": {
		cost: func(w, h int) Cost { return bilgicCost(w, h, 1) },
		gpu:  func(r *rig) *deviceRun { return bilgicScans(r, false) },
	},
	"bilgic/scan-transpose-back": {
		cost: func(w, h int) Cost { return bilgicCost(w, h, 2) },
		gpu:  func(r *rig) *deviceRun { return bilgicScans(r, true) },
	},
	"intimg/serial":            {cpu: hostCode{f32: intimgSerial[float32], f64: intimgSerial[float64], u32: intimgSerial[uint32]}},
	"intimg/parallel":          {cpu: hostCode{f32: intimgParallel[float32], f64: intimgParallel[float64], u32: intimgParallel[uint32]}},
	"intimg/gpu-v1":            {gpu: intimgV1},
	"intimg/gpu-v2":            {gpu: intimgV2},
	"messom/serial":            {cpu: hostCode{f32: messomSerial[float32], f64: messomSerial[float64]}, recurrence: true},
	"messom/twisted":           {cpu: hostCode{f32: messomTwisted[float32], f64: messomTwisted[float64]}},
	"messom/rotated":           {cpu: hostCode{f32: messomRotated[float32], f64: messomRotated[float64]}},
	"messom/stream-cpu":        {cpu: hostCode{f32: messomStreamCPU}, cost: streamCost(1)},
	"messom/stream-cpu-float4": {cpu: hostCode{f32: messomStream4CPU}, cost: streamCost(1)},
	"messom/stream-cpu-8":      {cpu: hostCode{f32: messomStream8CPU}, cost: streamCost(8)},
	"messom/stream":            {gpu: messomStream, cost: streamCost(1)},
	"messom/stream-float4":     {gpu: messomStream4, cost: streamCost(1)},
	"messom/stream-8":          {gpu: messomStream8, cost: streamCost(8)},
	"messom/tilted":            {gpu: messomTilted, cost: tiltedCost},
	"bertazzini/sequential":    {cpu: hostCode{u32: bertazziniSequential}},
	"bertazzini/threads":       {cpu: hostCode{u32: bertazziniThreads}},
	"bertazzini/cuda":          {gpu: bertazziniCUDA},
	"bertazzini/many-images":   {gpu: bertazziniMany},
}

// works and all hold the catalog, with the code.
var works, all = read()

func read() (works []*Work, all []*Algorithm) {
	var list []struct {
		Work
		Algorithms []struct {
			Algorithm
			On, Table, In string
			Cost          Cost
		}
	}
	if err := json.Unmarshal(catalog, &list); err != nil {
		panic(err) // the file is embedded in the program
	}
	for i := range list {
		works = append(works, &list[i].Work)
		for _, entry := range list[i].Algorithms {
			a, its := &entry.Algorithm, code[entry.Name]
			a.Work, a.cpu, a.gpu, a.cost, a.recurrence = &list[i].Work, its.cpu, its.gpu, its.cost, its.recurrence
			if a.cost == nil {
				a.cost = func(int, int) Cost { return entry.Cost }
			}
			a.Place = Place(slices.Index([]string{"CPU", "GPU"}, entry.On))
			a.Kind = map[string]Kind{"tilted": Tilted, "rotated": Rotated}[entry.Table]
			for name := range strings.FieldsSeq(entry.In) {
				p, _ := ParsePrecision(name)
				a.Precisions = append(a.Precisions, p)
			}
			all = append(all, a)
		}
	}
	return works, all
}

// Works returns all publications. The caller may change the slice but not the publications.
func Works() []*Work { return slices.Clone(works) }
