package cli

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boxsum/boxsum/internal/ref"
)

// TestPowerShellCompletion completes command lines in PowerShell, which every Windows has.
func TestPowerShellCompletion(t *testing.T) {
	pwsh := ref.Program(t, "install PowerShell", "pwsh", "powershell")
	var script strings.Builder
	if code := run(t.Context(), []string{"completion", "powershell"}, nil, &script, t.Output()); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, test := range completes {
		cmd := exec.Command(pwsh, "-NoProfile", "-Command", script.String()+`
(TabExpansion2 -inputScript '`+test.line+`' -cursorColumn `+strconv.Itoa(len(test.line))+`).CompletionMatches.CompletionText`)
		out, err := cmd.CombinedOutput()
		if err != nil || !slices.ContainsFunc(strings.Fields(string(out)), func(word string) bool { return strings.TrimLeft(word, `./\`) == test.want }) {
			t.Errorf("%q: %v, %s", test.line, err, out)
		}
	}
}
