# What the scripts that run tests share. They source it; it changes to the project's folder.
cd "$(dirname "$0")/.."

# step prints a title, with the seconds so far and, on Linux, those of processors.
started=$(date +%s)
step() {
	printf '\n== %s (%ss%s)\n' "$*" $(($(date +%s) - started)) "$(awk '{ printf ", %ds of processors", ($16 + $17) / 100 }' /proc/$$/stat 2>/dev/null)"
}

# left_out names a part that cannot be had here. Under CI=true that is an error.
left_out() {
	echo "left out: $*"
	[ "${CI:-}" != true ] || exit 1
}

# references names what tests compare with by the variables that they read. scripts/setup.sh makes the
# default places.
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

export POCL_WORK_GROUP_SPECIALIZATION=0 # or PoCL compiles every kernel three times

# Under CI, tests limit memory by a control group, of version 1 or 2, where they may make one.
if [ "${CI:-}" = true ] && [ -z "${BOXSUM_CGROUP:-}" ]; then
	for top in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		if [ -w $top ] && mkdir $top/boxsum-try 2>/dev/null; then
			[ ! -e $top/boxsum-try/memory.max ] && [ ! -e $top/boxsum-try/memory.limit_in_bytes ] || export BOXSUM_CGROUP=$top
			rmdir $top/boxsum-try
			[ -z "${BOXSUM_CGROUP:-}" ] || break
		fi
	done
fi
