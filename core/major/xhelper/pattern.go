package xhelper

import "strings"

// pattern is the pattern of a path, cut into segments.
type pattern []string

// patterns match when one of them does.
type patterns []pattern

func compile(texts []string) patterns {
	if len(texts) == 0 {
		return nil
	}
	list := make(patterns, len(texts))
	for i, text := range texts {
		list[i] = strings.Split(strings.TrimPrefix(text, "/"), "/")
	}
	return list
}

func (list patterns) match(path string) bool {
	for _, p := range list {
		if p.match(strings.TrimPrefix(path, "/")) {
			return true
		}
	}
	return false
}

// match compares the segments of a path. Like matchSegment it goes back to the last ** only.
func (p pattern) match(path string) bool {
	rest, more := path, true
	at, star := 0, -1
	var mark string // the rest that comes after what the last ** stands for
	for more {
		segment, tail, further := strings.Cut(rest, "/")
		switch {
		case at < len(p) && p[at] == "**":
			star, mark = at, rest
			at++
		case at < len(p) && matchSegment(p[at], segment):
			rest, more = tail, further
			at++
		case star >= 0:
			_, mark, more = strings.Cut(mark, "/")
			rest, at = mark, star+1
		default:
			return false
		}
	}
	for at < len(p) && p[at] == "**" {
		at++
	}
	return at == len(p)
}

// matchSegment compares one segment, with * and ?, going back to the last * only: that is enough,
// and keeps the time linear in the product of the lengths.
func matchSegment(pattern, text string) bool {
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
