package changelog

import (
	"strings"
)

// File is the changelog, relative to the root.
const File = "CHANGELOG.md"

// A Release is a version of a module with its notes.
type Release struct{ Module, Version, Notes string }

func (r Release) heading() string { return "## " + r.Module + " " + r.Version }

// Section returns the changelog section of a version of a module.
func Section(text, module, version string) (string, bool) {
	from, to, ok := find(text, Release{Module: module, Version: version})
	if !ok {
		return "", false
	}
	_, body, _ := strings.Cut(text[from:to], "\n")
	return strings.Trim(body, "\n") + "\n", true
}

// find returns the start and the end of the section of a release.
func find(text string, r Release) (from, to int, ok bool) {
	at := 0
	for line := range strings.Lines(text) {
		switch {
		case ok && strings.HasPrefix(line, "## "):
			return from, at, true
		case line == r.heading()+"\n", strings.HasPrefix(line, r.heading()+" "):
			from, ok = at, true
		}
		at += len(line)
	}
	return from, at, ok
}

// Roll returns the changelog with a new section for each release above the existing
// sections. If the section exists, its version was prepared but not published, and Roll
// adds the missing notes.
func Roll(text, date string, releases []Release) string {
	var fresh strings.Builder
	for _, r := range releases {
		from, to, ok := find(text, r)
		if !ok {
			fresh.WriteString(r.heading() + " - " + date + "\n\n" + strings.Trim(r.Notes, "\n") +
				"\n\n")
			continue
		}
		section := strings.TrimRight(text[from:to], "\n")
		for _, item := range items(r.Notes) {
			if !strings.Contains(section+"\n", item) {
				section += "\n" + strings.TrimRight(item, "\n")
			}
		}
		rest := text[to:]
		if rest != "" {
			rest = "\n" + rest
		}
		text = text[:from] + section + "\n" + rest
	}
	at := first(text)
	if head := strings.TrimRight(text[:at], "\n"); head != "" {
		text, at = head+"\n\n"+text[at:], len(head)+2
	}
	return strings.TrimRight(text[:at]+fresh.String()+text[at:], "\n") + "\n"
}

// first returns the start of the newest section, or the length of the text.
func first(text string) int {
	at := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "## ") {
			return at
		}
		at += len(line)
	}
	return at
}

// items splits a list into its items, each with its continuation lines and a newline.
func items(list string) []string {
	var items []string
	for line := range strings.Lines(strings.Trim(list, "\n") + "\n") {
		if strings.HasPrefix(line, "- ") || len(items) == 0 {
			items = append(items, line)
		} else {
			items[len(items)-1] += line
		}
	}
	return items
}
