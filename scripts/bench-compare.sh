#!/bin/sh
# Compares the speed of the working tree with that of another commit, or with a stored run, and evaluates the
# difference with benchstat.
#
#   scripts/bench-compare.sh build DIR [BASE]   builds the benchmarks of the working tree into DIR, and those of the
#                                               commit BASE if it is given
#   DIR/run.sh                                  runs them, on any machine of the same kind, in turn, and writes
#                                               DIR/new.txt and DIR/old.txt
#   scripts/bench-compare.sh stat DIR [RUN]     prints benchstat's comparison of DIR/new.txt with DIR/old.txt, or with
#                                               the stored run RUN, which is a copy of an earlier new.txt
#
# A comparison with a commit sees smaller differences, because both run in turn on the same machine.
#
# The builds are self-contained and can be copied to a machine without Go and without a network.
set -eu
cd "$(dirname "$0")/.."
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

usage() {
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

# build_side TREE DIR builds the benchmarks of one checkout and, if there is a C compiler, its Python package.
build_side() {
	mkdir -p "$2"
	for package in lab/regress lab/regress/gpu; do
		(cd "$1" && CGO_ENABLED=0 go test -c -trimpath -buildvcs=false -vet=off -ldflags='-s -w' -o "$2/$(basename $package).test" ./$package)
	done
	python=${PYTHON:-python3}
	[ ! -x .venv/bin/python ] || python=$PWD/.venv/bin/python
	PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$2/python" "$1/python" || echo "left out: the Python package could not be built"
}

case ${1:-} in
build)
	[ $# = 2 ] || [ $# = 3 ] || usage
	mkdir -p "$2"
	out=$(cd "$2" && pwd)
	rm -rf "$out/old" "$out/new"
	if [ $# = 3 ]; then
		old=$(mktemp -d)
		trap 'git worktree remove --force "$old/tree" 2>/dev/null; rm -rf "$old"' EXIT
		git worktree add --quiet --detach "$old/tree" "$3"
		rm -rf "$old/tree/lab/regress"
		mkdir -p "$old/tree/lab"
		cp -r lab/regress "$old/tree/lab/regress"
		build_side "$old/tree" "$out/old"
	fi
	build_side "$PWD" "$out/new"
	cp lab/regress/run.sh lab/regress/calls.py "$out"
	;;
stat)
	[ $# = 2 ] || [ $# = 3 ] || usage
	go run $benchstat -filter '.unit:(sec/op OR device-sec/op OR allocs/op)' -col .file "old=${3:-$2/old.txt}" "new=$2/new.txt"
	;;
*)
	usage
	;;
esac
