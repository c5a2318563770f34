// Package envtable formats environment variables as Markdown tables and as a .env file.
package envtable

import (
	"fmt"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Column is an additional column, placed before the meaning.
type Column struct {
	Title string
	Cell  func(v xenv.Var) string
}

// Markdown returns one table per group, below a second-level heading.
func Markdown(vars []xenv.Var, extra ...Column) string {
	var b strings.Builder
	group := ""
	for _, v := range vars {
		if v.Group != group {
			group = v.Group
			fmt.Fprintf(&b, "\n## %s\n\n%s", group, heading(extra))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | ", v.Key, Code(v.Default), orAny(v.Accepted()))
		for _, c := range extra {
			fmt.Fprintf(&b, "%s | ", c.Cell(v))
		}
		fmt.Fprintf(&b, "%s |\n", meaning(v))
	}
	return b.String()
}

func heading(extra []Column) string {
	titles, rule := "| Variable | Default | Accepts |", "|---|---|---|"
	for _, c := range extra {
		titles, rule = titles+" "+c.Title+" |", rule+"---|"
	}
	return titles + " Meaning |\n" + rule + "---|\n"
}

func meaning(v xenv.Var) string {
	text := v.Meaning
	if v.Secret {
		text += " Secret: never shown."
	}
	return text
}

// Code formats s as inline code for a table cell. It returns a dash for "" and replaces
// line breaks with spaces.
func Code(s string) string {
	if s == "" {
		return "–"
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 { // separates backticks of s from the fence
		s = " " + s + " "
	}
	escape := strings.NewReplacer("|", `\|`, "\r\n", " ", "\n", " ", "\r", " ")
	return fence + escape.Replace(s) + fence
}

func orAny(s string) string {
	if s == "" {
		return "any text"
	}
	return s
}

// Example returns the variables as a .env file with a heading per group. A comment above
// each assignment contains the meaning and the accepted values. line returns the
// assignment of a variable; nil means Commented.
func Example(vars []xenv.Var, line func(v xenv.Var) string) string {
	if line == nil {
		line = Commented
	}
	var b strings.Builder
	b.WriteString("# Every variable that Plinth reads, with its default. Copy the lines that you change to .env.\n" +
		"# Environment variables override .env.\n")
	group := ""
	for _, v := range vars {
		if v.Group != group {
			group = v.Group
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		fmt.Fprintf(&b, "\n# %s\n", v.Meaning)
		if a := v.Accepted(); a != "" {
			fmt.Fprintf(&b, "# Accepted: %s.\n", a)
		}
		b.WriteString(line(v) + "\n")
	}
	return b.String()
}

// Commented returns the commented assignment of the default.
func Commented(v xenv.Var) string { return fmt.Sprintf("# %s=%s", v.Key, v.Default) }
