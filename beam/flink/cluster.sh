#!/bin/bash
# Runs boxsum-beam on a standalone Flink cluster: a JobManager and two TaskManagers, each in its own network namespace, with a pool of
# workers next to each TaskManager. One TaskManager and its pool are killed halfway; the table must still equal that of boxsum integrate.
# Requires root, ip, Java 17 and the jars from beam/flink/fetch.sh. SIDE is the side of the image; KILL=0 kills nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
side=${SIDE:-8192} kill_one=${KILL:-1}
jars=$PWD/.venv/flink/lib
beam/flink/fetch.sh
work=$(mktemp -d "${TMPDIR:-/tmp}/flink-cluster.XXXXXX")
beam=${BOXSUM_BEAM:-$work/boxsum-beam}
[ -x "$beam" ] || (cd beam && go build -o "$beam" ./cmd/boxsum-beam)
boxsum=${BOXSUM:-$work/boxsum}
[ -x "$boxsum" ] || go build -o "$boxsum" ./cmd/boxsum
python=${PYTHON:-python3}

names="jm tm1 tm2"
declare -A address=([jm]=10.77.41.2 [tm1]=10.77.41.11 [tm2]=10.77.41.12)
declare -A processes=()
say() { printf '%6.1f s  %s\n' "$(echo "$(date +%s.%N) - $start" | bc)" "$*"; }
start=$(date +%s.%N)
clean() {
	for pid in ${processes[*]:-}; do
		kill -9 "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	for name in $names; do ip netns del boxsum-$name 2>/dev/null || true; done
	for name in $names; do ip link del bxs-$name 2>/dev/null || true; done
	ip link del boxsum-br 2>/dev/null || true
	[ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap clean EXIT
ip link add boxsum-br type bridge
ip link set boxsum-br up
for name in $names; do
	ip netns add boxsum-$name
	ip link add bxs-$name type veth peer name eth0 netns boxsum-$name
	ip link set bxs-$name master boxsum-br up
	ip -n boxsum-$name addr add ${address[$name]}/24 dev eth0
	ip -n boxsum-$name link set eth0 up
	ip -n boxsum-$name link set lo up
done
# spawn NAME WHAT COMMAND runs a command in a namespace, in the background.
spawn() {
	local name=$1 what=$2
	shift 2
	ip netns exec boxsum-$name "$@" >"$work/$name-$what.log" 2>&1 &
	processes[$name-$what]=$!
}
# await FILE TEXT waits until a log contains a text.
await() {
	for _ in $(seq 600); do
		grep -qs "$2" "$work/$1" && return
		sleep 0.2
	done
	echo "no \"$2\" in $1:" >&2
	tail -20 "$work/$1" >&2
	exit 1
}
for name in $names; do
	mkdir -p "$work/$name" "$work/$name-tmp"
	cat >"$work/$name/config.yaml" <<YAML
jobmanager.rpc.address: ${address[jm]}
jobmanager.rpc.port: 6123
jobmanager.bind-host: 0.0.0.0
rest.address: ${address[jm]}
rest.bind-address: 0.0.0.0
rest.port: 8081
taskmanager.host: ${address[$name]}
taskmanager.bind-host: 0.0.0.0
taskmanager.numberOfTaskSlots: 2
cluster.evenly-spread-out-slots: true
taskmanager.cpu.cores: 1.0
taskmanager.memory.task.heap.size: 256m
taskmanager.memory.task.off-heap.size: 0m
taskmanager.memory.managed.size: 64m
taskmanager.memory.network.min: 64m
taskmanager.memory.network.max: 64m
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 128m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 128m
taskmanager.memory.jvm-overhead.max: 128m
heartbeat.interval: 1000
heartbeat.timeout: 8000
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 10
restart-strategy.fixed-delay.delay: 2 s
classloader.resolve-order: parent-first
io.tmp.dirs: $work/$name-tmp
YAML
done
java=(java -XX:+UseSerialGC -Xmx512m -cp "$jars/*")
spawn jm jobmanager "${java[@]}" org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir "$work/jm"
for name in tm1 tm2; do
	spawn $name pool "$beam" -pool :50000
	spawn $name taskmanager "${java[@]}" org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$work/$name"
done
spawn jm jobserver "${java[@]}" org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master=${address[jm]}:8081 --job-host=127.0.0.1 --job-port=8099 \
	--artifact-port=8098 --expansion-port=-1 --artifacts-dir="$work/artifacts"
"$python" - "$side" "$work/image.zarr" <<'PYTHON'
# Write an image of noise in chunks of 1024², without libraries.
import json, os, random, sys
side, path = int(sys.argv[1]), sys.argv[2]
os.makedirs(path)
json.dump({"zarr_format": 3, "node_type": "array", "shape": [side, side], "data_type": "uint8", "fill_value": 0, "attributes": {},
           "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1024, 1024]}},
           "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "codecs": [{"name": "bytes"}]}, open(path + "/zarr.json", "w"))
random.seed(1)
for i in range(-(-side // 1024)):
    os.makedirs(f"{path}/c/{i}")
    for k in range(-(-side // 1024)):
        open(f"{path}/c/{i}/{k}", "wb").write(random.randbytes(1 << 20))
PYTHON
before=$(date +%s.%N)
"$boxsum" integrate "$work/image.zarr" -o "$work/want.zarr"
say "boxsum integrate alone: $(echo "$(date +%s.%N) - $before" | bc) s"
await jm-jobserver.log "JobService started"
for _ in $(seq 600); do
	ip netns exec boxsum-jm "$python" -c 'import json, urllib.request as u; exit(json.load(u.urlopen("http://127.0.0.1:8081/overview"))["taskmanagers"] != 2)' 2>/dev/null && both=1 && break
	sleep 0.2
done
[ "${both:-0}" = 1 ] || { echo "there are no two TaskManagers" >&2; exit 1; }
say "a JobManager at ${address[jm]} and TaskManagers at ${address[tm1]} and ${address[tm2]}"
blocks=$(((side + 1023) / 1024 * ((side + 1023) / 1024)))
before=$(date +%s.%N)
spawn jm submitter "$beam" -in "$work/image.zarr" -out "$work/table.zarr" --runner=universal --endpoint=127.0.0.1:8099 --environment_type=EXTERNAL \
	--environment_config=localhost:50000 --parallelism=2 --worker_binary=/bin/true
written() { find "$work/table.zarr/sum/c" -type f ! -name '.partial-*' 2>/dev/null | wc -l; }
if [ "$kill_one" = 1 ]; then
	until [ "$(written)" -ge $((blocks / 2)) ]; do
		kill -0 "${processes[jm-submitter]}" 2>/dev/null || { echo "the pipeline ended before half of it was done" >&2; exit 1; }
		sleep 0.1
	done
	kill -9 "${processes[tm2-taskmanager]}" "${processes[tm2-pool]}"
	wait "${processes[tm2-taskmanager]}" "${processes[tm2-pool]}" 2>/dev/null || true
	say "TaskManager at ${address[tm2]} and its pool killed, with $(written) of $blocks blocks written"
fi
if ! wait "${processes[jm-submitter]}"; then
	tail -5 "$work/jm-submitter.log" >&2
	tail -20 "$work/jm-jobserver.log" >&2
	exit 1
fi
unset 'processes[jm-submitter]'
say "$(tail -1 "$work/jm-submitter.log" | cut -c1-200)"
say "the pipeline took $(echo "$(date +%s.%N) - $before" | bc) s"
diff -r "$work/want.zarr" "$work/table.zarr"
"$boxsum" verify "$work/table.zarr"
say "the same bytes as boxsum integrate"
