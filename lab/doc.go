// Package lab is the folder of everything that measures: timing and references in
// [github.com/boxsum/boxsum/lab/measure], benchmarks in lab/bench, the experiments of published works in
// lab/reproduce and charts in lab/plot. The commands bench and reproduce are built on it.
//
// The packages in this folder are not part of the library. They may change at any time, and the
// promise of compatibility does not cover them.
package lab
