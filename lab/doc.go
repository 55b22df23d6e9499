// Package lab is the folder of all measurements. Package [github.com/boxsum/boxsum/lab/measure]
// times tables and compares them with references, lab/bench contains benchmarks, lab/reproduce the
// experiments of published works, and lab/plot charts. The commands bench and reproduce are built
// on these packages.
//
// The packages in this folder are not part of the library. They may change at any time, and the
// promise of compatibility does not cover them.
package lab
