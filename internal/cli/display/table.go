package display

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Columns writes rows in aligned columns, the first left-aligned and the others right-aligned.
func Columns(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(w, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(w, "  %*s", widths[i+1], cell)
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}

// Plain formats a sum with all digits, without an exponent unless it is very large.
func Plain(sum float64) string {
	if math.Abs(sum) < 1e15 {
		return strconv.FormatFloat(sum, 'f', -1, 64)
	}
	return fmt.Sprint(sum)
}

// JSONLines writes a JSON array with one value per line, without a final newline.
func JSONLines[T any](w io.Writer, values []T) error {
	between := ""
	fmt.Fprint(w, "[")
	for _, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n  %s", between, text)
		between = ","
	}
	if len(values) > 0 {
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprint(w, "]")
	return err
}

// OneOrAll returns the only value, or all if there are several.
func OneOrAll(values []any) any {
	if len(values) == 1 {
		return values[0]
	}
	return values
}

// Finite returns a number that JSON can represent: nil for NaN and infinities.
func Finite(number float64) any {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return nil
	}
	return number
}

// JSON writes a value as indented JSON.
func JSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// Finites applies Finite to numbers.
func Finites(numbers []float64) []any {
	all := make([]any, len(numbers))
	for i, n := range numbers {
		all[i] = Finite(n)
	}
	return all
}

// Wrap breaks text at spaces into lines of at most width columns, and indents all lines
// but the first. Longer words keep their length.
func Wrap(text string, width, indent int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
