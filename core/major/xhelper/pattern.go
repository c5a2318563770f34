package xhelper

import (
	"regexp"
	"strings"
)

// patterns match a path when one of them does.
type patterns struct {
	plain map[string]bool
	globs *regexp.Regexp // nil: none
}

// wildcards are /**, * and ? as regexp.QuoteMeta writes them.
var wildcards = strings.NewReplacer(`/\*\*`, `(/[^/]*)*`, `\*`, `[^/]*`, `\?`, `[^/]`)

// compile returns nil for no patterns.
func compile(texts []string) *patterns {
	if len(texts) == 0 {
		return nil
	}
	p := &patterns{plain: map[string]bool{}}
	var globs []string
	for _, text := range texts {
		if strings.ContainsAny(text, "*?") {
			globs = append(globs, wildcards.Replace(regexp.QuoteMeta(text)))
		} else {
			p.plain[text] = true
		}
	}
	if len(globs) > 0 {
		p.globs = regexp.MustCompile("^(" + strings.Join(globs, "|") + ")$")
	}
	return p
}

func (p *patterns) match(path string) bool {
	return p != nil && (p.plain[path] || p.globs != nil && p.globs.MatchString(path))
}
