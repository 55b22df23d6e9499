# Functions shared by the scripts that run tests, which source this file. It changes to the project's folder.
cd "$(dirname "$0")/.."
[ -e go.mod ] || cd .. # from scripts/release

# step prints a title with the elapsed seconds and, on Linux, the seconds of processor time.
started=$(date +%s)
step() {
	printf '\n== %s (%ss%s)\n' "$*" $(($(date +%s) - started)) "$(awk '{ printf ", %ds of processors", ($16 + $17) / 100 }' /proc/$$/stat 2>/dev/null)"
}

# left_out reports a part that is not available here. With CI=true this is an error.
left_out() {
	echo "left out: $*"
	[ "${CI:-}" != true ] || exit 1
}

# references sets the variables that tell tests where to find what they compare with. scripts/setup.sh installs
# it in the default locations.
references() {
	if [ -x .venv/bin/python ]; then
		export BOXSUM_PEERS_PYTHON="${BOXSUM_PEERS_PYTHON:-$PWD/.venv/bin/python}"
		export BOXSUM_DOXA_PYTHON="${BOXSUM_DOXA_PYTHON:-$PWD/.venv/bin/python}"
		export BOXSUM_STORE_PYTHON="${BOXSUM_STORE_PYTHON:-$PWD/.venv/bin/python}"
	fi
	if [ -x .venv/cascades/bin/python ]; then
		export BOXSUM_CASCADES_PYTHON="${BOXSUM_CASCADES_PYTHON:-$PWD/.venv/cascades/bin/python}"
	fi
}

export POCL_WORK_GROUP_SPECIALIZATION=0 # otherwise PoCL compiles every kernel three times

# In CI, tests limit memory with a control group, of version 1 or 2, if they may create one.
if [ "${CI:-}" = true ] && [ -z "${BOXSUM_CGROUP:-}" ]; then
	for top in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		if [ -w $top ] && mkdir $top/boxsum-try-$$ 2>/dev/null; then
			[ ! -e $top/boxsum-try-$$/memory.max ] && [ ! -e $top/boxsum-try-$$/memory.limit_in_bytes ] || export BOXSUM_CGROUP=$top
			rmdir $top/boxsum-try-$$
			[ -z "${BOXSUM_CGROUP:-}" ] || break
		fi
	done
fi
