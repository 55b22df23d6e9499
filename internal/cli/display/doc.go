// Package display formats what commands print: numbers with units, aligned tables, and JSON.
package display
