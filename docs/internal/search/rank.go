package search

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// perPage is the number of entries of a page that come before the remaining entries of
// all pages.
const perPage = 3

// javaSector contains the pages about the Java library, which follow the Go pages.
const javaSector = "base-java"

// Factors of a score.
const (
	coverage    = 0.7   // penalty of an entry with almost no word of the query
	complete    = 1.8   // entry with all words
	nearlyAll   = 0.999 // tolerance for rounded shares
	mention     = 3     // page whose title or keyword of several words is part of the query
	foreign     = 0.85  // page in another language than the query
	foreignTwin = 0.25  // the same, if the page has a translation
)

// A level is the quality of a match. Entries of a smaller level come first.
type level int

const (
	namedLevel   level = iota // the title or a keyword of the page is the query
	titleLevel                // the title has all words
	headingLevel              // the heading, or the heading and the title, have all words
	textLevel                 // the entry has a word
)

// A tally sums up the matches of an entry.
type tally struct {
	total   float64 // score
	found   shares  // of all units so far
	unit    float64 // score of the current unit
	current shares  // of the current unit

	hasHeading bool // whether the heading has a word of the query
}

// shares are the numbers of units that match an entry, in different fields.
type shares struct {
	entry float64 // in any field
	title float64
	head  float64 // in the title or the heading
}

// of returns the shares of an alternative for the fields of a posting.
func (a alternative) of(fields fieldSet) shares {
	s := shares{entry: a.share}
	if fields&inTitle != 0 {
		s.title = a.share
	}
	if fields != 0 {
		s.head = a.share
	}
	return s
}

func (s shares) plus(o shares) shares {
	return shares{s.entry + o.entry, s.title + o.title, s.head + o.head}
}

func (s shares) max(o shares) shares {
	return shares{max(s.entry, o.entry), max(s.title, o.title), max(s.head, o.head)}
}

// capped returns the shares, each at most 1.
func (s shares) capped() shares {
	return shares{min(1, s.entry), min(1, s.title), min(1, s.head)}
}

// A ranked is an entry with its level and score.
type ranked struct {
	entry  int
	level  level
	isJava bool // whether it follows the entries of other sectors
	score  float64
	factor float64 // included in score
}

// rank returns the entries that pass the filter, best first.
func (ix *Index) rank(q query, f filter) []ranked {
	tallies := make([]tally, len(ix.entries))
	meant, mentioned := ix.named[q.name], ix.mentioned(q.name)
	for _, u := range q.units {
		u.score(tallies)
	}
	var found []ranked
	for i, t := range tallies {
		p := ix.entries[i].page
		factor := f.factor(p)
		if t.total <= 0 || factor == 0 {
			continue
		}
		all := float64(len(q.units)) * nearlyAll
		r := ranked{entry: i, level: t.level(all, ix.entries[i].isFirst), isJava: !f.java &&
			p.Sector.Name == javaSector}
		if slices.Contains(meant, i) {
			r.level = namedLevel
		}
		matched := t.found.entry / float64(len(q.units))
		if matched >= nearlyAll {
			factor *= complete
		}
		if mentioned[i] {
			factor *= mention
		}
		r.factor = factor * (1 - coverage + coverage*matched*matched)
		r.score = t.total * r.factor
		found = append(found, r)
	}
	order(found)
	ix.addBonuses(found, q.near)
	return ix.spread(found)
}

// level returns the level of an entry whose name is not the query. all is the weight of a
// match of all words, and isFirst whether the entry is the first one of its page.
func (t tally) level(all float64, isFirst bool) level {
	switch {
	case t.found.title >= all && isFirst:
		return titleLevel
	case t.found.head >= all && t.hasHeading:
		return headingLevel
	}
	return textLevel
}

// mentioned returns the entries of pages whose title or keyword, if it has several words,
// is part of the query.
func (ix *Index) mentioned(query string) map[int]bool {
	entries := map[int]bool{}
	for name, list := range ix.named {
		if strings.Contains(name, " ") && strings.Contains(" "+query+" ", " "+name+" ") {
			for _, i := range list {
				entries[i] = true
			}
		}
	}
	return entries
}

// score adds the score and the shares of a unit to the tallies: those of all
// alternatives, or of the best expansion.
func (u *unit) score(tallies []tally) {
	for _, a := range u.alternatives {
		for _, p := range a.postings {
			t := &tallies[p.entry]
			t.unit += a.weight * float64(p.frequency)
			t.current = t.current.plus(a.of(p.fields))
			t.hasHeading = t.hasHeading || p.fields&inHeading != 0
		}
	}
	for _, a := range u.expansions {
		for _, p := range a.postings {
			t := &tallies[p.entry]
			t.unit = max(t.unit, a.weight*float64(p.frequency))
			t.current = t.current.max(a.of(p.fields))
			t.hasHeading = t.hasHeading || p.fields&inHeading != 0
		}
	}
	for i := range tallies {
		t := &tallies[i]
		t.total, t.found = t.total+t.unit, t.found.plus(t.current.capped())
		t.unit, t.current = 0, shares{}
	}
}

// spread moves the entries of a page beyond the first perPage behind all other entries.
func (ix *Index) spread(found []ranked) []ranked {
	ofPage := map[*page.Page]int{}
	var first, rest []ranked
	for _, r := range found {
		p := ix.entries[r.entry].page
		if ofPage[p]++; ofPage[p] <= perPage {
			first = append(first, r)
		} else {
			rest = append(rest, r)
		}
	}
	return append(first, rest...)
}

// A filter selects pages and weights them by language.
type filter struct {
	sector  string
	path    string
	chinese bool // whether the query is Chinese
	java    bool // whether the query is about Java
}

func newFilter(q Query, words query) filter {
	path := strings.Trim(q.Path, "/")
	if path != "" {
		path = "/" + path
	}
	return filter{sector: q.Sector, path: path, chinese: words.dense, java: words.java ||
		q.Sector == javaSector}
}

// factor returns the factor for the scores of a page, or 0 to exclude the page.
func (f filter) factor(p *page.Page) float64 {
	if f.sector != "" && p.Sector.Name != f.sector || !f.below(p.Path) {
		return 0
	}
	switch isChinese := p.Language == page.Chinese; {
	case isChinese == f.chinese:
		return 1
	case p.Twin == nil:
		return foreign
	case f.chinese, f.path == p.Path:
		return foreignTwin
	}
	return 0
}

// below reports whether a path is the path of the filter, of its translation or of a page
// below it.
func (f filter) below(path string) bool {
	rest, ok := strings.CutPrefix(path, f.path)
	return ok && (rest == "" || rest[0] == '/' || rest == "."+page.Chinese)
}
