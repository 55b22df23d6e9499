package raster

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

// A limit is the memory that one rule of the system currently leaves to this process.
type limit struct {
	bytes float64
	swap  float64 // additional memory if the system swaps
	says  string  // format of the error text, with a verb for the GB
}

// A host is the source of the limits of a process.
type host struct {
	text func(name string) string // contents of a file, "" if it cannot be read
	// rlimits returns the limits on addresses and on data, which are infinite if not
	// set.
	rlimits func() (addresses, data float64)
}

// pretended is the host of tests, or nil for the real one.
var pretended atomic.Pointer[host]

// FakeLimits replaces the limits by those in the files under a folder and the given limits
// on addresses and data, until restore is called. It is for tests.
func FakeLimits(root string, addresses, data float64) (restore func()) {
	before := pretended.Swap(&host{filesUnder(root), func() (float64, float64) { return addresses, data }})
	return func() { pretended.Store(before) }
}

// current returns the host that limits are currently read from.
func current() *host {
	if h := pretended.Load(); h != nil {
		return h
	}
	return here
}

// Available returns the number of bytes that can be allocated now without swapping. It
// does not include memory that the garbage collector may free.
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
	// groupReserve is left to a cgroup, for stacks, page tables and its other
	// processes: the system kills a process if the cgroup is full.
	groupReserve = 64 << 20
	// addressReserve and threadReserve are needed by Go's runtime in addition to a
	// large slice, for arenas of 64 MiB each and for a thread per processor: without
	// them it ends the process.
	addressReserve = 192 << 20
	threadReserve  = 8 << 20
)

// limits returns the limits in the files of the host.
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

// process returns what the limits on the process leave.
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
			all = append(all, limit{bytes: max(r.limit-used-reserve, idleHeap(), 0), says: "the process's limit (ulimit " + r.flag + ") leaves %.1f GB"})
		}
	}
	return all
}

// idleHeap returns the approximate number of bytes that the runtime can allocate without
// new address space: it keeps the addresses of memory that it has returned to the system.
func idleHeap() float64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	idle := 0.0
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			idle += float64(s.Value.Uint64())
		}
	}
	return idle * 7 / 8 // it may be fragmented
}

// filesUnder returns a function that reads files under a folder.
func filesUnder(root string) func(string) string {
	return func(name string) string {
		b, _ := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		return string(b)
	}
}

// numbers returns the numbers in the lines of a file, in bytes.
func (h *host) numbers(name string) map[string]float64 { return parseNumbers(h.text(name)) }

// parseNumbers parses lines of a name and a number, which may be in kB.
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

// parseBytes parses a number of bytes. It returns false for "max".
func parseBytes(text string) (float64, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return float64(n), err == nil
}

// A group is a directory of a cgroup that this process is in.
type group struct {
	*host
	dir string
	own bool // the process is in this group, not in one below it
	names
}

// names are the files of a group, and the names that its memory.stat uses for file
// memory.
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

// limit returns what the group leaves, and whether it has a limit.
func (g *group) limit(freeSwap float64) (limit, bool) {
	most, limited := g.number(g.names.limit)
	used, known := g.number(g.used)
	if !known || (!limited || most >= none) && !(g.version1 && g.own) {
		return limit{}, false
	}
	stat := g.numbers(path.Join(g.dir, "memory.stat"))
	if above, ok := stat["hierarchical_memory_limit"]; ok && (!limited || above < most) {
		most, limited = above, true // limit of groups that are not visible from here
	}
	if !limited || most >= none {
		return limit{}, false
	}
	free, swap := most-used, freeSwap
	if most, ok := g.number(g.swapLimit); ok {
		used, _ := g.number(g.swapUsed)
		left := most - used
		if g.version1 { // the limit includes memory
			left -= free
		}
		swap = max(0, min(swap, left))
	}
	// The system drops saved files from memory before it kills a process.
	files := stat[g.inactive] + stat[g.active] - stat[g.dirty] - stat[g.beingSaved]
	free += max(0, min(files, used)) - min(groupReserve, most/16)
	return limit{max(0, free), swap, fmt.Sprintf("the cgroup, limited to %.1f GB, leaves", most/1e9) + " %.1f GB"}, true
}

// none is the value from which a limit means no limit; version 1 has no word for that.
const none = 1 << 60

func (g *group) number(name string) (float64, bool) {
	return parseBytes(g.text(path.Join(g.dir, name)))
}

// groups returns the groups that limit the memory of this process, including those
// above it.
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

// parseGroups parses /proc/self/cgroup. It returns the group of this process in version
// 1 and in version 2, or "" if there is none.
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

// hasWord reports whether a comma-separated list contains a word.
func hasWord(list, word string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == word {
			return true
		}
	}
	return false
}

// A mount is a place where cgroups are visible.
type mount struct {
	root, point string // the group at the top, and its directory
	version1    bool
}

// parseMounts parses the mounts of memory cgroups in /proc/self/mountinfo.
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

// dir returns the directory of a group, or the top if the group is not known to be
// below it: a container may see less than the system reports, or names that begin above
// its own top.
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

// unescape decodes the octal escapes of mountinfo.
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
