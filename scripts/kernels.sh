#!/bin/sh
# Builds the CUDA kernels of gpu/internal/kernels that are stale, or the given modules, into
# gpu/internal/kernels/built: machine code for sm_90, and PTX for the compute capability stated
# in the .cu file and later.
#
# NVCC names the compiler. By default it is the one in PATH, or that of NVIDIA's wheels from
# PyPI, in .cuda. The host compiler (g++) does the preprocessing.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."

# The wheels are only needed here: users get the built files.
wheels() {
	python=${PYTHON:-python3}
	if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
		scripts/install.sh python3-venv
		python=python3
	fi
	[ -x .cuda/venv/bin/python ] || "$python" -m venv .cuda/venv
	.cuda/venv/bin/python -m pip install --quiet --no-deps --target "$@"
}

nvcc=${NVCC:-$(command -v nvcc || true)}
include=.
if [ -z "$nvcc" ]; then
	nvcc=.cuda/13/nvidia/cu13/bin/nvcc
	include=.cuda/13/nvidia/cu13/include
	[ -x $nvcc ] || wheels .cuda/13 nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
fi
# The assembler of CUDA 11.8 checks what old drivers accept.
old_ptxas=.cuda/11/nvidia/cuda_nvcc/bin/ptxas
[ -x $old_ptxas ] || wheels .cuda/11 nvidia-cuda-nvcc-cu11==11.8.89
if ! command -v g++ >/dev/null; then
	scripts/install.sh g++
fi

# code prints a source without comments and blank lines, so that kernels stay current when only
# comments change. The line about PTX is used below.
code() {
	sed -e '/^\/\/ PTX /b' -e 's|[[:blank:]]*\(//.*\)\{0,1\}$||' -e '/^$/d'
}

from=gpu/internal/kernels
built=$from/built
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p $built
command -v zstd >/dev/null || scripts/install.sh zstd
go test -run 'TestLists|TestHeaders' ./$from/... -update
version=$("$nvcc" --version | sed -n 's/.*release.*, V//p')

named=$#
[ $named != 0 ] || set -- $(cd $from && ls ./*.cu | sed 's,\./\(.*\)\.cu,\1,')
for module; do
	source=$from/$module.cu
	# No fused multiply-add: squares are rounded as on the host.
	options="-O3 -std=c++17 -fmad=false"

	# List the sources, for TestBuiltIsCurrent.
	"$nvcc" $options -I "$include" -MM "$source" | tr -d '\\' | tr ' ' '\n' | sed -n "s,.*$from/,,p" | sort -u >"$scratch/files"
	while read -r file; do
		echo "$(code <$from/"$file" | sha256sum | cut -c 1-64)  $file"
	done <"$scratch/files" >"$scratch/$module.sources"
	if [ $named = 0 ] && cmp -s "$scratch/$module.sources" $built/$module.sources; then
		continue
	fi
	echo "== $module, by nvcc $version"
	digest=$(sha256sum <"$scratch/$module.sources" | cut -c 1-16)

	# Determine the target of the PTX: the oldest compute capability, the oldest version of PTX
	# that has what the kernels use, and the chips to try it for. nvcc marks its output with its
	# own version, which only drivers as new as nvcc accept.
	oldest=$(sed -n 's,^// PTX .* for compute capability \(.*\)\.$,\1,p' "$source")
	ptx_version=$(sed -n 's,^// PTX \(.*\) for .*,\1,p' "$source")
	chips="80 89"
	[ "$oldest" = 80 ] || chips="75 80 86 89 90"

	# Compile through PTX, so that the host can read the variables, which nvcc hides.
	for arch in $oldest 90; do
		"$nvcc" $options -I "$include" -ptx -arch=compute_$arch -o "$scratch/raw.$arch" "$source"
		sed -i 's/^\.global .* shape_/.visible &/' "$scratch/raw.$arch"
	done
	"$(dirname "$nvcc")/ptxas" -O3 -arch=sm_90 -o "$scratch/$module.sm_90.cubin" "$scratch/raw.90"
	{
		echo "// $module.cu of boxsum (sources $digest), by nvcc $version $options -arch=compute_$oldest,"
		echo "// with the version lowered to $ptx_version; ptxas 11.8 accepts it for sm_$oldest and up."
		# used_bytes_mask is a hint for one load, which old compilers do not know.
		sed -e "s/^\.version .*/.version $ptx_version/" -e '/\.pragma "used_bytes_mask/d' "$scratch/raw.$oldest"
	} >"$scratch/$module.compute_$oldest.ptx"
	for arch in $chips; do # checks only that it is accepted
		$old_ptxas -O0 -arch=sm_$arch -o "$scratch/assembled" "$scratch/$module.compute_$oldest.ptx"
	done

	rm -f $built/"$module".*
	for image in "$module.sm_90.cubin" "$module.compute_$oldest.ptx"; do
		zstd --quiet --ultra -22 "$scratch/$image" -o "$built/$image.zst" # every program contains all of them
	done
	cp "$scratch/$module.sources" $built/
	ls -l $built/"$module".*
done
