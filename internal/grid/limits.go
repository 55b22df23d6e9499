package grid

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
)

// A limit is what one rule of the system lets this process take now.
type limit struct {
	bytes float64
	swap  float64 // more of it, where the system swaps
	says  string  // the bytes in words, with a verb for the GB
}

// A host is where the limits of a process are read.
type host struct {
	text func(name string) string // a file, "" where it cannot be read
	// rlimits are the limits on addresses and on data, and infinite where there are none.
	rlimits func() (addresses, data float64)
}

// pretended is the host of tests, nil for the real one.
var pretended atomic.Pointer[host]

// Pretend makes the limits those that the files under a folder tell, and these of
// addresses and data, until the function that it returns is called. It is for tests.
func Pretend(root string, addresses, data float64) (restore func()) {
	before := pretended.Swap(&host{filesUnder(root), func() (float64, float64) { return addresses, data }})
	return func() { pretended.Store(before) }
}

// current is where the limits are read now.
func current() *host {
	if h := pretended.Load(); h != nil {
		return h
	}
	return here
}

// Available is how many bytes can be taken now without swapping. It does not count on
// what the garbage collector may give back.
func Available() (bytes uint64, known bool) {
	least := math.Inf(1)
	for _, l := range current().limits() {
		least = min(least, l.bytes)
	}
	if least >= math.MaxUint64 {
		return math.MaxUint64, false
	}
	return uint64(least), true
}

const (
	// groupReserve is what is left to a cgroup, for stacks, page tables and whoever
	// else is in it: one that is full loses a process.
	groupReserve = 64 << 20
	// addressReserve and threadReserve are what Go's runtime takes beside a large slice,
	// in arenas of 64 MiB each, and for every processor a thread: without them it ends
	// the process.
	addressReserve = 192 << 20
	threadReserve  = 8 << 20
)

// limits are those that the host's files tell.
func (h *host) limits() (all []limit) {
	if h == nil {
		return nil
	}
	memory := h.numbers("proc/meminfo")
	swap := memory["SwapFree"]
	if free, ok := memory["MemAvailable"]; ok {
		all = append(all, limit{free, swap, "%.1f GB are free"})
	}
	for _, group := range h.groups() {
		if l, ok := group.limit(swap); ok {
			all = append(all, l)
		}
	}
	return append(all, h.process()...)
}

// process is what the limits on the process leave.
func (h *host) process() (all []limit) {
	if h == nil {
		return nil
	}
	addresses, data := h.rlimits()
	if math.IsInf(min(addresses, data), 1) {
		return nil
	}
	status := h.numbers("proc/self/status")
	reserve := float64(addressReserve + threadReserve*runtime.GOMAXPROCS(0))
	for _, r := range []struct {
		limit      float64
		used, flag string
	}{{addresses, "VmSize", "-v"}, {data, "VmData", "-d"}} {
		if used, ok := status[r.used]; ok && !math.IsInf(r.limit, 1) {
			all = append(all, limit{bytes: max(r.limit-used-reserve, idleHeap(), 0), says: "the limit of this process (ulimit " + r.flag + ") leaves %.1f GB"})
		}
	}
	return all
}

// idleHeap is about how much the garbage collector has to give out: it keeps the
// addresses of what it gave back to the system.
func idleHeap() float64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	idle := 0.0
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			idle += float64(s.Value.Uint64())
		}
	}
	return idle * 7 / 8 // it may be in pieces
}

// filesUnder reads files under a folder.
func filesUnder(root string) func(string) string {
	return func(name string) string {
		b, _ := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		return string(b)
	}
}

// numbers are those of the lines of a file, in bytes.
func (h *host) numbers(name string) map[string]float64 { return parseNumbers(h.text(name)) }

// parseNumbers reads lines of a name and a number, which may be in kB.
func parseNumbers(text string) map[string]float64 {
	all := map[string]float64{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, ok := parseBytes(fields[1])
		if !ok {
			continue
		}
		if len(fields) > 2 && fields[2] == "kB" {
			n *= 1024
		}
		all[strings.TrimSuffix(fields[0], ":")] = n
	}
	return all
}

// parseBytes reads a number of bytes. "max" is none.
func parseBytes(text string) (float64, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return float64(n), err == nil
}

// A group is a directory of a cgroup that this process is in.
type group struct {
	*host
	dir string
	own bool // the process is in it, and not in one below
	names
}

// names are the files of a group, and what its memory.stat calls the memory of files.
type names struct {
	limit, used                         string
	swapLimit, swapUsed                 string
	inactive, active, dirty, beingSaved string
	version1                            bool
}

var (
	version1 = names{
		"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes",
		"total_inactive_file", "total_active_file", "total_dirty", "total_writeback", true,
	}
	version2 = names{
		"memory.max", "memory.current", "memory.swap.max", "memory.swap.current",
		"inactive_file", "active_file", "file_dirty", "file_writeback", false,
	}
)

// limit is what the group leaves, if it has a limit.
func (g *group) limit(freeSwap float64) (limit, bool) {
	most, limited := g.number(g.names.limit)
	used, known := g.number(g.used)
	if !known || (!limited || most >= none) && !(g.version1 && g.own) {
		return limit{}, false
	}
	stat := g.numbers(path.Join(g.dir, "memory.stat"))
	if above, ok := stat["hierarchical_memory_limit"]; ok && (!limited || above < most) {
		most, limited = above, true // of groups that cannot be seen from here
	}
	if !limited || most >= none {
		return limit{}, false
	}
	free, swap := most-used, freeSwap
	if most, ok := g.number(g.swapLimit); ok {
		used, _ := g.number(g.swapUsed)
		left := most - used
		if g.version1 { // which counts memory too
			left -= free
		}
		swap = max(0, min(swap, left))
	}
	// The system drops files from memory before it ends a process, those that are saved.
	files := stat[g.inactive] + stat[g.active] - stat[g.dirty] - stat[g.beingSaved]
	free += max(0, min(files, used)) - min(groupReserve, most/16)
	return limit{max(0, free), swap, fmt.Sprintf("its cgroup, which may have %.1f GB, leaves", most/1e9) + " %.1f GB"}, true
}

// none is from where on a limit stands for none, for which version 1 has no word.
const none = 1 << 60

func (g *group) number(name string) (float64, bool) {
	return parseBytes(g.text(path.Join(g.dir, name)))
}

// groups are the groups that limit the memory of this process, those above it too.
func (h *host) groups() (all []group) {
	v1, v2, ok := parseGroups(h.text("proc/self/cgroup"))
	if !ok {
		return nil
	}
	for _, m := range parseMounts(h.text("proc/self/mountinfo")) {
		in, names := v2, version2
		if m.version1 {
			in, names = v1, version1
		}
		if in == "" {
			continue
		}
		own := m.dir(in)
		for dir := own; ; dir = path.Dir(dir) {
			all = append(all, group{h, dir, dir == own, names})
			if dir == m.point {
				break
			}
		}
	}
	return all
}

// parseGroups reads /proc/self/cgroup: the group of this process in version 1 and in
// version 2, "" for none.
func parseGroups(text string) (v1, v2 string, ok bool) {
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 || !path.IsAbs(fields[2]) {
			continue
		}
		if fields[0] == "0" && fields[1] == "" {
			v2 = fields[2]
		} else if hasWord(fields[1], "memory") {
			v1 = fields[2]
		}
	}
	return v1, v2, v1 != "" || v2 != ""
}

// hasWord reports whether a word is in a list with commas.
func hasWord(list, word string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == word {
			return true
		}
	}
	return false
}

// A mount is a place where cgroups can be seen.
type mount struct {
	root, point string // the group at the top, and its directory
	version1    bool
}

// parseMounts reads the mounts of cgroups for memory from /proc/self/mountinfo.
func parseMounts(text string) (all []mount) {
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		m := mount{root: unescape(fields[3]), point: path.Clean(unescape(fields[4])), version1: kind[0] == "cgroup"}
		if !path.IsAbs(m.root) || !path.IsAbs(m.point) {
			continue
		}
		if kind[0] == "cgroup2" || m.version1 && hasWord(kind[2], "memory") {
			all = append(all, m)
		}
	}
	return all
}

// dir is the directory of a group, and the top where it is not seen to be under it: a
// container may see less than the system tells, or names that begin above its own top.
func (m *mount) dir(in string) string {
	const above = "/.."
	if strings.HasPrefix(in, above) || strings.HasPrefix(m.root, above) {
		return m.point
	}
	if m.root != "/" {
		rest, ok := strings.CutPrefix(in, m.root)
		if !ok || rest != "" && rest[0] != '/' {
			return m.point
		}
		in = rest
	}
	return path.Join(m.point, path.Clean("/"+in))
}

// unescape reads the characters that mountinfo writes as three octal digits.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
