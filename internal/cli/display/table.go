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

// Columns lines up rows: the first column to the left, where the words
// are, and the others to the right.
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

// Plain is a sum in digits: without an exponent where a reader can do without.
func Plain(sum any) string {
	if f, ok := sum.(float64); ok && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(sum)
}

// JSONLines prints an array with a line for each value, and nothing after it.
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

// OneOrAll is a number for one channel, and an array for several.
func OneOrAll(values []any) any {
	if len(values) == 1 {
		return values[0]
	}
	return values
}

// Finite is a number that JSON can hold, and null for NaN and infinities.
func Finite(number any) any {
	if f, ok := number.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil
	}
	return number
}

// JSON prints a value as indented JSON.
func JSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// Finites is numbers that JSON can hold.
func Finites(numbers []float64) []any {
	all := make([]any, len(numbers))
	for i, n := range numbers {
		all[i] = Finite(n)
	}
	return all
}

// Wrap breaks text at spaces into lines of at most width columns where it can, and indents all lines but the first.
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
