// Package xdotenv parses .env files for tools that inspect the configuration of a
// service. It parses them in the same way as an application at startup.
package xdotenv

import (
	"strings"

	"github.com/joho/godotenv"
)

// maxBadLines is the maximum number of invalid lines that Parse reports. Finding each one
// requires a search.
const maxBadLines = 20

// Parse parses the text of a .env file. It returns the variables of the valid lines and
// the numbers of the invalid lines, starting at 1. If more than 20 lines are invalid,
// Parse returns the first 20 numbers and no variables.
func Parse(text string) (values map[string]string, bad []int) {
	const byteOrderMark = "\ufeff"
	lines := strings.SplitAfter(strings.TrimPrefix(text, byteOrderMark), "\n")
	for {
		values, ok := parseLines(lines)
		if ok || len(bad) == maxBadLines {
			return values, bad
		}
		n := badLine(lines)
		bad = append(bad, n)
		lines[n-1] = "\n"
	}
}

// parseLines parses lines and reports whether all of them are valid. It drops the
// parser's error, because that contains values.
func parseLines(lines []string) (values map[string]string, ok bool) {
	values, err := godotenv.Unmarshal(strings.Join(lines, ""))
	if err != nil {
		return nil, false
	}
	for name, value := range values {
		if name == "" || strings.ContainsRune(value, 0) {
			return nil, false
		}
	}
	return values, true
}

// badLine returns the number of the first invalid line, which follows the longest valid
// prefix.
func badLine(lines []string) int {
	for n := len(lines) - 1; ; n-- {
		if _, ok := parseLines(lines[:n]); ok { // an empty prefix is valid
			return n + 1
		}
	}
}
