// Package regress contains the benchmarks that show whether a change made
// boxsum slower.
//
// scripts/bench-compare.sh builds them for two commits and runs both in turn.
// They are copied into the older commit, so they use only functions of the
// public API that both commits have, and pixels and cascades that they make
// themselves.
package regress
