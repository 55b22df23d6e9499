#!/bin/sh
# Runs the benchmarks that scripts/bench-compare.sh built, old and new in turn if it built both, and writes old.txt
# and new.txt next to this file. Needs neither Go nor a network.
#
# ROUNDS is the number of runs of each side, SECONDS_EACH the minimum time of a benchmark, and BENCH a pattern
# that selects benchmarks like go test -bench.
set -eu
cd "$(dirname "$0")"
rounds=${ROUNDS:-10} seconds=${SECONDS_EACH:-0.02} which=${BENCH:-.}
rm -f old.txt new.txt
sides=new
[ ! -d old ] || sides="old new"
python=${PYTHON:-python3}
for side in $sides; do
	[ -d $side/python ] || python=
done
if [ -z "$python" ] || ! PYTHONPATH=new/python "$python" -c 'import boxsum' 2>/dev/null; then
	echo "Python calls are left out: the package was not built, or there is no NumPy (PYTHON names an interpreter)"
	python=
fi

# measure SIDE runs everything once.
measure() {
	for program in ./"$1"/*.test; do
		"$program" -test.run '^$' -test.bench "$which" -test.benchtime "${seconds}s" -test.timeout 0 >>"$1.txt"
	done
	if [ -n "$python" ] && { [ "$which" = . ] || [ "$which" = Python ]; }; then
		PYTHONPATH=$1/python BENCH_SECONDS=$seconds "$python" calls.py >>"$1.txt"
	fi
}

round=1
while [ $round -le $rounds ]; do
	for side in $sides; do
		measure $side
	done
	# The sides take turns at going first, so that drift favors neither.
	case $sides in
	"old new") sides="new old" ;;
	"new old") sides="old new" ;;
	esac
	echo "round $round of $rounds"
	round=$((round + 1))
done
