// Package display writes what commands print: numbers with their units as people say
// them, tables that line up, and JSON.
package display
