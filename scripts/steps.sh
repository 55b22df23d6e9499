# What the scripts of the tests share; read by them, not run.
cd "$(dirname "$0")/.."

# step says what comes, after how many seconds by the clock and, on Linux, of processors.
step() {
	printf '\n== %s (%ss%s)\n' "$*" $(($(date +%s) - started)) "$(awk '{ printf ", %ds of processors", ($16 + $17) / 100 }' /proc/$$/stat 2>/dev/null)"
}
started=$(date +%s)

# left_out names a part that cannot be had here. Under CI=true that is a failure.
left_out() {
	echo "left out: $*"
	[ -z "${CI:-}" ] || exit 1
}

# long_forms has tests of packages try more: what is set here they read themselves.
long_forms() {
	export BOXSUM_GPU_PAIRS=all            # tables of every pair of types on a device
	export BOXSUM_BOXES=1000000            # sums of boxes, against whole numbers of any size
	export BOXSUM_THRESHOLDS=10000         # against Doxa and OpenCV
	export BOXSUM_FILTERS=10000            # against their definition, OpenCV and SciPy
	export BOXSUM_DETECTIONS=5000          # images searched, against OpenCV
	export BOXSUM_DAMAGED=2000             # cascades
	export BOXSUM_STORE_KILLS=200          # of a table under way, each resumed
}

# beside runs a command while others go on, and keeps what it prints in $scratch until it is met.
beside() {
	name=$1
	shift
	$(command -v setsid || true) "$@" >"$scratch/$name" 2>&1 & # a group of its own where it can, so that all of it can be ended
	eval "beside_$name=\$!"
	going="$going $!"
}
going=

# end ends what still runs beside a script that ends.
end() {
	for pid in $going; do
		kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true
	done
	rm -rf "$scratch"
}

# meet waits for those named, shows what they printed, and fails if one did.
meet() {
	failed=
	for name; do
		eval "pid=\$beside_$name"
		wait "$pid" || failed="$failed $name"
		cat "$scratch/$name"
	done
	[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
}

# Half of CI's time is the compiler's. go vet looks at everything by itself, and nobody debugs what CI builds.
if [ -n "${CI:-}" ]; then
	case $(go env GOFLAGS) in
	*-dwarf=false*) ;;
	*) export GOFLAGS="$(go env GOFLAGS) -vet=off -gcflags=all=-dwarf=false" ;;
	esac
fi

export POCL_WORK_GROUP_SPECIALIZATION=0 # or PoCL compiles every kernel three times

# Tests may make a cgroup that limits memory in CI's machine, where that is ours.
if [ -n "${CI:-}" ] && [ -z "${BOXSUM_CGROUP:-}" ]; then
	for top in /sys/fs/cgroup/memory /sys/fs/cgroup; do # of version 1 and 2
		if [ -w $top ] && mkdir $top/boxsum-try 2>/dev/null; then
			[ ! -e $top/boxsum-try/memory.max ] && [ ! -e $top/boxsum-try/memory.limit_in_bytes ] || export BOXSUM_CGROUP=$top
			rmdir $top/boxsum-try
		fi
		[ -z "${BOXSUM_CGROUP:-}" ] || break
	done
fi

# oracles names the Python that has OpenCV and scikit-image, if there is one.
oracles() {
	python=${BOXSUM_PEERS_PYTHON:-$PWD/.venv/bin/python}
	if "$python" -c 'import cv2, skimage' 2>/dev/null; then
		export BOXSUM_PEERS_PYTHON="$python"
		"$python" -c 'import cv2.ximgproc' 2>/dev/null || left_out "tests against OpenCV's extra modules: they take opencv-contrib-python-headless in place of opencv-python-headless"
	else
		unset BOXSUM_PEERS_PYTHON
		left_out "tests against OpenCV and scikit-image: it takes Python 3 with venv, and PyPI"
	fi
}

# doxa names the Python that has doxapy, if there is one.
doxa() {
	python_doxa=${BOXSUM_DOXA_PYTHON:-$PWD/.venv/doxa/bin/python}
	if "$python_doxa" -c 'import doxapy' 2>/dev/null; then
		export BOXSUM_DOXA_PYTHON="$python_doxa"
	else
		unset BOXSUM_DOXA_PYTHON
		left_out "tests against Doxa: it takes Python 3.12 or newer with venv, and PyPI"
	fi
}

# cascades names the Python that has OpenCV's cascades, if there is one.
cascades() {
	python_cascades=${BOXSUM_CASCADES_PYTHON:-$PWD/.venv/cascades/bin/python}
	if "$python_cascades" -c 'import cv2; cv2.CascadeClassifier' 2>/dev/null; then
		export BOXSUM_CASCADES_PYTHON="$python_cascades"
	else
		unset BOXSUM_CASCADES_PYTHON
		left_out "tests against OpenCV's cascades: it takes Python 3 with venv, and PyPI"
	fi
	ls "${BOXSUM_CASCADES:-/usr/share/opencv4}"/*cascades/*.xml >/dev/null 2>&1 || left_out "tests of cascades: they take Debian's opencv-data"
}

# stores names the Python that has zarr-python and TensorStore, if there is one.
stores() {
	python_store=${BOXSUM_STORE_PYTHON:-$PWD/.venv/store/bin/python}
	if "$python_store" -c 'import zarr, tensorstore' 2>/dev/null; then
		export BOXSUM_STORE_PYTHON="$python_store"
	else
		unset BOXSUM_STORE_PYTHON
		left_out "tests against zarr-python and TensorStore: it takes Python 3.12 or newer with venv, and PyPI"
	fi
}

# package installs the Python package, and what its tests use, for that Python.
package() {
	[ -n "${BOXSUM_PEERS_PYTHON:-}" ] && [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null &&
		$python -m pip install --quiet --disable-pip-version-check pytest hypothesis mypy==2.4.1 &&
		{ $python -m pip install --quiet --disable-pip-version-check zarr 'dask[array]' xarray || left_out "arrays of zarr, dask and xarray from Python: they take PyPI"; } &&
		{ [ -z "${CI:-}" ] || $python -m pip install --quiet --disable-pip-version-check jax || left_out "boxsum.jax: its tests take JAX"; } && # large: others have it, or leave its tests out
		$python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall ./python
}
