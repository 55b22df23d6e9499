package sources

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestPatternsAsExpressions compares patterns with equivalent regular expressions.
func TestPatternsAsExpressions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"*", "{x}", "{row}", "{col", "a", "1", "12", "/", "\\", ".", "{", "é", "+"}
	words := []string{"a", "b", "1", "2", "12", "0", "/", "\\", ".", "é", "{col", "{", "+"}
	some := func(from []string) string {
		var b strings.Builder
		for range random.IntN(7) {
			b.WriteString(from[random.IntN(len(from))])
		}
		return b.String()
	}
	fitted := 0
	for range 200000 {
		pattern, name := some(pieces), some(words)
		expression := regexp.QuoteMeta(pattern)
		for from, to := range map[string]string{`\*`: `([^/\\]*)`, `\{x\}`: "([0-9]+)", `\{row\}`: "([0-9]+)"} {
			expression = strings.ReplaceAll(expression, from, to)
		}
		want := regexp.MustCompile("^" + expression + "$").FindStringSubmatch(name)
		p := patternOf(pattern)
		texts, ok := p.fit(name)
		if ok != (want != nil) || p.stands() != strings.Contains(expression, "(") {
			t.Fatalf("%q fits %q: %v", name, pattern, ok)
		}
		if !ok {
			continue
		}
		fitted++
		for i := 1; i < len(p); i += 2 {
			if got := texts[i]; got != want[(i+1)/2] {
				t.Fatalf("%q in %q: part %d is %q, want %q", name, pattern, i, got, want[(i+1)/2])
			}
		}
	}
	if fitted < 1000 {
		t.Errorf("only %d names fitted", fitted)
	}
}

// TestPatternOfManyStars tests a pattern that would take forever if all combinations were tried.
func TestPatternOfManyStars(t *testing.T) {
	if _, ok := patternOf(strings.Repeat("*a", 40) + "b").fit(strings.Repeat("a", 200)); ok {
		t.Error("it fits")
	}
}
