package xreg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/joho/godotenv"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xoption"
)

// defaultEnvFile is read where it exists.
const defaultEnvFile = ".env"

// maxBadLines bounds how many wrong lines of one file are looked for: each costs a search.
const maxBadLines = 20

// loadEnv reads the plan's files into the environment, and then its defaults. An error says where a file is wrong, and
// not what stands there; the rest of the file is read all the same, so that what it says can be checked too.
func loadEnv(p *xoption.Plan) error {
	defaults := make(map[string]string, len(p.EnvDefaults))
	for key, value := range p.EnvDefaults {
		defaults[key.String()] = value
	}
	return errors.Join(loadEnvFiles(p), xenv.Apply(defaults))
}

func loadEnvFiles(p *xoption.Plan) error {
	if p.NoEnvFile {
		return nil
	}
	files, optional := p.EnvFiles, false
	if len(files) == 0 {
		files, optional = []string{defaultEnvFile}, true
	}
	var errs []error
	for _, name := range files {
		text, err := os.ReadFile(name) //nolint:gosec // the path is the application's own
		if optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("xreg: environment file: %w", err))
			continue
		}
		values, bad := ParseEnv(string(text))
		for _, line := range bad {
			errs = append(errs, fmt.Errorf("xreg: environment file: %s: line %d is not NAME=value", name, line))
		}
		errs = append(errs, xenv.Apply(values))
	}
	return errors.Join(errs...)
}

// ParseEnv returns what the text of a .env file says without its wrong lines, and the numbers of these, from 1. No more than 20
// are looked for: where there are more, the first 20 are returned and no values. It is how the start reads the file, for programs
// that look at a service from outside.
func ParseEnv(text string) (values map[string]string, bad []int) {
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

// parseLines reads lines, and reports whether all of them name variables that can be set. The parser's own error is of no
// use to anyone, because it quotes values.
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

// badLine returns the number of the first wrong line: the one after the longest beginning that has none.
func badLine(lines []string) int {
	for n := len(lines) - 1; n > 0; n-- {
		if _, ok := parseLines(lines[:n]); ok {
			return n + 1
		}
	}
	return 1
}
