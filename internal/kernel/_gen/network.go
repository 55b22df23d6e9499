package main

import (
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A network sorts vectors. Its steps are recorded first and emitted together, so that unused
// results cost nothing, and vectors for which there is no register stay in memory.
type network struct {
	set   isa
	elem  elem
	steps []step
}

// A wire identifies the vector that a step computes.
type wire int

// A step loads a vector, compares two vectors, or runs a function on several.
type step struct {
	from Mem // the vector's memory, if it is loaded
	in   []wire
	most bool                      // keep the greater lanes instead of the lesser ones
	do   func(in []reg.VecVirtual) // set for steps without a result; it may overwrite vectors that no other step uses
	uses []int                     // the steps that use the result and have not been emitted, in reverse order
}

func (n *network) add(s step) wire {
	n.steps = append(n.steps, s)
	return wire(len(n.steps) - 1)
}

func (n *network) load(m Mem) wire         { return n.add(step{from: m}) }
func (n *network) least(a, b wire) wire    { return n.add(step{in: []wire{a, b}}) }
func (n *network) most(a, b wire) wire     { return n.add(step{in: []wire{a, b}, most: true}) }
func (n *network) swap(v []wire, i, j int) { v[i], v[j] = n.least(v[i], v[j]), n.most(v[i], v[j]) }

// do records a step that runs a function on vectors in registers.
func (n *network) do(f func(in []reg.VecVirtual), in ...wire) { n.add(step{in: in, do: f}) }

// reduce combines vectors one after the other.
func reduce(v []wire, f func(a, b wire) wire) wire {
	all := v[0]
	for _, w := range v[1:] {
		all = f(all, w)
	}
	return all
}

// insert inserts a vector into a sorted list.
func (n *network) insert(sorted []wire, v wire) []wire {
	all := append(slices.Clone(sorted), v)
	last := len(all) - 1
	for i := range last {
		n.swap(all, i, last)
	}
	return all
}

// merge merges sorted lists by Batcher's odd-even merge.
func (n *network) merge(a, b []wire) []wire {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	case len(a) == 1 && len(b) == 1:
		return []wire{n.least(a[0], b[0]), n.most(a[0], b[0])}
	}
	every := func(v []wire, from int) (half []wire) {
		for i := from; i < len(v); i += 2 {
			half = append(half, v[i])
		}
		return half
	}
	even, odd := n.merge(every(a, 0), every(b, 0)), n.merge(every(a, 1), every(b, 1))
	all := even[:1:1]
	for even = even[1:]; len(even) > 0 && len(odd) > 0; even, odd = even[1:], odd[1:] {
		all = append(all, n.least(odd[0], even[0]), n.most(odd[0], even[0]))
	}
	return append(append(all, even...), odd...)
}

// sort sorts up to five vectors.
func (n *network) sort(v ...wire) []wire {
	networks := [][][2]int{
		2: {{0, 1}},
		4: {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}},
		5: {{0, 1}, {3, 4}, {2, 4}, {2, 3}, {1, 4}, {0, 3}, {0, 2}, {1, 3}, {1, 2}},
	}
	for _, pair := range networks[len(v)] {
		n.swap(v, pair[0], pair[1])
	}
	return v
}

// between returns the element of the given rank, counted from 1, in the union of two sorted lists.
func (n *network) between(a, b []wire, rank int) wire {
	var all []wire
	for i := max(0, rank-len(b)); i <= min(rank, len(a)); i++ { // i of a and rank-i of b
		switch {
		case i == 0:
			all = append(all, b[rank-1])
		case i == rank:
			all = append(all, a[rank-1])
		default:
			all = append(all, n.most(a[i-1], b[rank-i-1]))
		}
	}
	return reduce(all, n.least)
}

// emit emits the steps whose results are used, with the given number of registers.
func (n *network) emit(registers int) {
	for i := len(n.steps) - 1; i >= 0; i-- {
		if s := &n.steps[i]; s.do != nil || len(s.uses) > 0 {
			for _, w := range s.in {
				n.steps[w].uses = append(n.steps[w].uses, i)
			}
		}
	}
	a := &allocation{n: n, at: map[wire]reg.VecVirtual{}, stored: map[wire]Mem{}}
	for range registers {
		a.free = append(a.free, n.set.vec())
	}
	for i := range n.steps {
		if s := &n.steps[i]; s.do != nil || len(s.uses) > 0 {
			a.step(wire(i), s)
		}
	}
}

// An allocation tracks where the vectors of a network are while its steps are emitted.
type allocation struct {
	n      *network
	free   []reg.VecVirtual
	at     map[wire]reg.VecVirtual
	stored map[wire]Mem // vectors in memory; they may be in registers too
	slots  []Mem        // unused memory
}

// next returns the next step to be emitted that uses a vector.
func (a *allocation) next(w wire) int {
	if uses := a.n.steps[w].uses; len(uses) > 0 {
		return uses[len(uses)-1]
	}
	return math.MaxInt
}

func (a *allocation) step(w wire, s *step) {
	if s.in == nil {
		a.stored[w] = s.from
		return
	}
	in := make([]Op, len(s.in))
	for i, from := range s.in {
		uses := a.n.steps[from].uses
		// The first operand of a comparison may stay in memory if no later step needs it in a
		// register.
		if _, ok := a.at[from]; !ok && i == 0 && s.do == nil && len(uses) == 1 && a.n.elem != i64 {
			in[i] = a.stored[from]
		} else {
			in[i] = a.register(from, s.in)
		}
	}
	var done []wire
	for _, from := range s.in {
		uses := &a.n.steps[from].uses
		if *uses = (*uses)[:len(*uses)-1]; len(*uses) == 0 {
			done = append(done, from)
			if v, ok := a.at[from]; ok {
				a.free = append(a.free, v)
				delete(a.at, from)
			}
		}
	}
	if s.do != nil {
		registers := make([]reg.VecVirtual, len(in))
		for i := range in {
			registers[i] = in[i].(reg.VecVirtual)
		}
		s.do(registers)
	} else {
		to := a.take(s.in)
		a.n.compare(in[0], in[1].(reg.VecVirtual), to, s.most)
		a.at[w] = to
	}
	for _, from := range done { // until now the step needed their memory
		if m, ok := a.stored[from]; ok && a.n.steps[from].in != nil {
			a.slots = append(a.slots, m)
		}
	}
}

// register returns the register of a vector. If the vector is only in memory, it is loaded.
func (a *allocation) register(w wire, keep []wire) reg.VecVirtual {
	if v, ok := a.at[w]; ok {
		return v
	}
	v := a.take(keep)
	a.n.set.load(a.stored[w], v)
	a.at[w] = v
	return v
}

// take returns a free register. If there is none, it frees the register of the vector that is
// needed last.
func (a *allocation) take(keep []wire) reg.VecVirtual {
	if len(a.free) == 0 {
		far := wire(-1)
		for w := range a.at {
			if !slices.Contains(keep, w) && (far < 0 || a.next(w) > a.next(far) || a.next(w) == a.next(far) && w > far) {
				far = w
			}
		}
		if _, ok := a.stored[far]; !ok {
			if len(a.slots) == 0 {
				a.slots = append(a.slots, AllocLocal(a.n.set.bytes()))
			}
			last := len(a.slots) - 1
			a.n.set.store(a.at[far], a.slots[last])
			a.stored[far], a.slots = a.slots[last], a.slots[:last]
		}
		a.free = append(a.free, a.at[far])
		delete(a.at, far)
	}
	v := a.free[0]
	a.free = a.free[1:]
	return v
}

// compare stores the lesser or the greater lanes of two vectors. If two floats are not comparable,
// or both are zeros, the greater one is the second.
func (n *network) compare(a Op, b, to reg.VecVirtual, most bool) {
	if n.elem == i64 && !wide(n.set) {
		greater := n.set.vec() // AVX2 has no minimum of 64-bit integers
		VPCMPGTQ(b, a, greater)
		if most {
			VBLENDVPD(greater, a, b, to)
		} else {
			VBLENDVPD(greater, b, a, to)
		}
		return
	}
	which := 0
	if most {
		which = 1
	}
	comparisons[n.elem][which](a, b, to)
}

// comparisons lists the instructions that return the least and the greatest of two vectors.
var comparisons = map[elem][2]func(...Op){
	u8:  {VPMINUB, VPMAXUB},
	u16: {VPMINUW, VPMAXUW},
	i32: {VPMINSD, VPMAXSD},
	i64: {VPMINSQ, VPMAXSQ},
	f32: {VMINPS, VMAXPS},
	f64: {VMINPD, VMAXPD},
}
