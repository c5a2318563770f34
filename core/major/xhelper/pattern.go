package xhelper

import (
	"regexp"
	"strings"
)

// patterns matches a path against several patterns.
type patterns struct {
	plain map[string]bool
	globs *regexp.Regexp // nil without wildcards
}

// wildcards replaces the output of regexp.QuoteMeta for * and ?.
var wildcards = strings.NewReplacer(`\*`, `[^/]*`, `\?`, `[^/]`)

// compile returns nil if there are no patterns.
func compile(texts []string) *patterns {
	if len(texts) == 0 {
		return nil
	}
	p := &patterns{plain: map[string]bool{}}
	var globs []string
	for _, text := range texts {
		if !strings.ContainsAny(text, "*?") {
			p.plain[text] = true
			continue
		}
		var glob strings.Builder
		for segment := range strings.SplitSeq(strings.TrimPrefix(text, "/"), "/") {
			if segment == "**" {
				glob.WriteString("(/[^/]*)*")
			} else {
				glob.WriteString("/" + wildcards.Replace(regexp.QuoteMeta(segment)))
			}
		}
		globs = append(globs, glob.String())
	}
	if len(globs) > 0 {
		p.globs = regexp.MustCompile("^(" + strings.Join(globs, "|") + ")$")
	}
	return p
}

func (p *patterns) match(path string) bool {
	return p != nil && (p.plain[path] || p.globs != nil && p.globs.MatchString(path))
}
