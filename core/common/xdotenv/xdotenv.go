// Package xdotenv parses .env files as the start of an application does, for programs
// that look at a service from outside.
package xdotenv

import (
	"strings"

	"github.com/joho/godotenv"
)

// maxBadLines bounds how many wrong lines of one file are looked for: each costs a
// search.
const maxBadLines = 20

// Parse returns the variables of the text of a .env file without its wrong lines, and the
// numbers of these lines, from 1. If there are more than 20 wrong lines, it returns the
// first 20 and no variables.
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

// parseLines reads lines, and reports whether all of them name variables that can be set.
// The parser's own error is of no use to anyone, because it quotes values.
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

// badLine returns the number of the first wrong line: the one after the longest beginning
// that has none.
func badLine(lines []string) int {
	for n := len(lines) - 1; ; n-- {
		if _, ok := parseLines(lines[:n]); ok { // as no lines are
			return n + 1
		}
	}
}
