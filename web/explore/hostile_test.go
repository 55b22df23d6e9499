package explore

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/imgio"
)

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := imgio.Encode(&b, "png", imgio.Demo(w, h)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCodeOfHostileNames tests names that would be commands or options in a shell.
func TestCodeOfHostileNames(t *testing.T) {
	s := NewSession(nil, Usual)
	for _, name := range []string{`x'; touch pwned; '.png`, `a"b.png`, "-rf.png", "$(touch pwned).png"} {
		v, _ := ask(t, s, map[string]any{"do": "open", "name": name}, pngOf(t, 8, 8))
		if v["error"] != nil {
			t.Fatal(v)
		}
		v, _ = ask(t, s, map[string]any{"do": "code", "doc": v["id"], "what": map[string]any{"do": "match", "method": "zncc", "top": 1, "box": []int{0, 0, 4, 4}}}, nil)
		text, _ := v["shell"].(string)
		if text == "" {
			t.Fatal(v)
		}
		saved := strings.TrimSuffix(name, ".png") + ".npy"
		want := []string{saved, "template.npy"}
		if name[0] == '-' {
			want[0] = "./" + saved
		}
		if sh, err := exec.LookPath("sh"); err == nil { // how a shell parses it
			cmd := exec.Command(sh, "-c", "python3() { printf '%s' \"$2\" | grep -c 'np.load' >/dev/null; }\nboxsum() { printf '%s\\n' \"$2\" \"$3\"; }\n"+text)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if got := strings.Split(strings.TrimSpace(string(out)), "\n"); err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
				t.Errorf("%q: %q, %v", name, out, err)
			}
			if list, _ := exec.Command("ls", cmd.Dir).Output(); len(list) != 0 {
				t.Errorf("%q left %s", name, list)
			}
		}
	}
}
