package cli

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
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
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the completion of bash takes bash")
	}
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

// TestCompletionKnowsAll holds that every verb and flag is in every script, and that
// shells that are here can read it.
func TestCompletionKnowsAll(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var script strings.Builder
		if code := run(t.Context(), []string{"completion", shell}, nil, &script, t.Output()); code != exitOK {
			t.Fatalf("%s: exit code %d", shell, code)
		}
		for _, want := range []string{"histogram", "as-stored", "json", "avx512", "opencl"} {
			if !strings.Contains(script.String(), want) {
				t.Errorf("%s: no %s", shell, want)
			}
		}
		if path, err := exec.LookPath(shell); err == nil && shell != "powershell" { // see TestPowerShellCompletion
			cmd := exec.Command(path, "-n")
			cmd.Stdin = strings.NewReader(script.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", shell, err, out)
			}
		}
	}
}

func TestPowerShellCompletion(t *testing.T) {
	pwsh, err := exec.LookPath("pwsh")
	if err != nil {
		t.Skip("the completion of PowerShell takes pwsh")
	}
	var script strings.Builder
	if code := run(t.Context(), []string{"completion", "powershell"}, nil, &script, t.Output()); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, test := range completes {
		cmd := exec.Command(pwsh, "-NoProfile", "-Command", script.String()+`
(TabExpansion2 -inputScript '`+test.line+`' -cursorColumn `+strconv.Itoa(len(test.line))+`).CompletionMatches.CompletionText`)
		out, err := cmd.CombinedOutput()
		if err != nil || !slices.ContainsFunc(strings.Fields(string(out)), func(word string) bool { return strings.TrimPrefix(word, "./") == test.want }) {
			t.Errorf("%q: %v, %s", test.line, err, out)
		}
	}
}
