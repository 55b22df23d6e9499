package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"
)

// completes are lines, what is to be completed at their end, and a word that must be
// offered there.
var completes = []struct{ line, want string }{
	{"boxsum in", "integrate"},
	{"boxsum integrate --ty", "--type"},
	{"boxsum integrate --type u", "u64"},
	{"boxsum integrate photo.png --color ", "keep"},
	{"boxsum query --", "--table"},
	{"boxsum completion z", "zsh"},
	{"boxsum query complet", "completion_test.go"},
}

func TestBashCompletion(t *testing.T) {
	bash := ref.Program(t, "install it", "bash")
	var script strings.Builder
	if code := run(t.Context(), []string{"completion", "bash"}, nil, &script, t.Output()); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, test := range completes {
		words := strings.Split(test.line, " ")
		cmd := exec.Command(bash, "-c", script.String()+`
COMP_WORDS=("$@") COMP_CWORD=$(($#-1)); _boxsum; echo "${COMPREPLY[*]}"`)
		cmd.Args = append(cmd.Args, append([]string{"bash"}, words...)...)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(" "+strings.ReplaceAll(string(out), "\n", " "), " "+test.want+" ") {
			t.Errorf("%q: %v, %s", test.line, err, out)
		}
	}
}

// TestCompletionKnowsAll tests that every verb and flag is in every script, and that the shells can read their scripts.
func TestCompletionKnowsAll(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		t.Run(shell, func(t *testing.T) {
			var script strings.Builder
			if code := run(t.Context(), []string{"completion", shell}, nil, &script, t.Output()); code != exitOK {
				t.Fatalf("exit code %d", code)
			}
			for _, want := range []string{"histogram", "as-stored", "json", "avx512", "opencl"} {
				if !strings.Contains(script.String(), want) {
					t.Errorf("no %s", want)
				}
			}
			if shell == "powershell" { // see TestPowerShellCompletion
				return
			}
			cmd := exec.Command(ref.Program(t, "install it", shell), "-n")
			cmd.Stdin = strings.NewReader(script.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
