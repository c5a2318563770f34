package search

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// perPage is how many entries of a page come before those of other pages.
const perPage = 3

// javaSector is the sector about the Java library. Its pages use common words, such as
// filter, but most users look for the Go packages.
const javaSector = "base-java"

// Factors of a score.
const (
	coverage    = 0.7   // how much is lost by an entry that holds next to none of the words
	complete    = 1.8   // of an entry that holds all words
	nearlyAll   = 0.999 // allows for shares that do not add up to 1
	named       = 4     // puts the page whose title or keyword is the query before the others
	behind      = 0.02  // puts Java pages behind the others if the query is not about Java
	foreign     = 0.85  // of a page that is not in the language of the query
	foreignTwin = 0.25  // of one that is translated
)

// A tally is what an entry has gathered of a query.
type tally struct {
	total, held float64 // held are the units that it holds, pieces of a unit counted as shares

	unit, share float64 // of the present unit
}

// A ranked entry has its score.
type ranked struct {
	entry  int
	score  float64
	factor float64 // that the score has
}

// rank returns the entries that pass the filter, the best first.
func (ix *Index) rank(q query, f filter) []ranked {
	tallies, meant := make([]tally, len(ix.entries)), ix.named[q.name]
	for _, u := range q.units {
		u.score(tallies)
	}
	var found []ranked
	for i, t := range tallies {
		factor := f.factor(ix.entries[i].page)
		if t.total <= 0 || factor == 0 {
			continue
		}
		if slices.Contains(meant, i) {
			factor *= named
		}
		held := t.held / float64(len(q.units))
		if held >= nearlyAll {
			factor *= complete
		}
		factor *= 1 - coverage + coverage*held*held
		found = append(found, ranked{i, t.total * factor, factor})
	}
	order(found)
	ix.reward(found, q.near)
	return ix.spread(found)
}

// score adds a unit to what the entries have gathered: all of its alternatives, or the
// best of its expansions.
func (u *unit) score(tallies []tally) {
	for _, a := range u.alternatives {
		for _, p := range a.postings {
			t := &tallies[p.entry]
			t.unit += a.weight * float64(p.frequency)
			t.share += a.share
		}
	}
	for _, a := range u.expansions {
		for _, p := range a.postings {
			t := &tallies[p.entry]
			t.unit, t.share = max(t.unit, a.weight*float64(p.frequency)), max(t.share, a.share)
		}
	}
	for i := range tallies {
		t := &tallies[i]
		t.total, t.held = t.total+t.unit, t.held+min(1, t.share)
		t.unit, t.share = 0, 0
	}
}

// spread puts what a page has beyond its first entries behind the first entries of all
// pages.
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

// A filter says which pages a query means, and how much.
type filter struct {
	sector  string
	path    string
	chinese bool // whether the query is
	java    bool // whether Java pages count as much as others
}

func newFilter(q Query, words query) filter {
	path := strings.Trim(q.Path, "/")
	if path != "" {
		path = "/" + path
	}
	return filter{sector: q.Sector, path: path, chinese: words.dense, java: words.java ||
		q.Sector == javaSector}
}

// factor is what the score of a page's entries is multiplied by. Those of 0 are not
// found.
func (f filter) factor(p *page.Page) float64 {
	if f.sector != "" && p.Sector.Name != f.sector || !f.below(p.Path) {
		return 0
	}
	factor := 1.0
	if p.Sector.Name == javaSector && !f.java {
		factor = behind
	}
	switch isChinese := p.Language == page.Chinese; {
	case isChinese == f.chinese:
		return factor
	case p.Twin == nil:
		return factor * foreign
	case f.chinese, f.path == p.Path:
		return factor * foreignTwin
	}
	return 0
}

// below tells whether a page is the one of the filter, its translation, or lies below it.
func (f filter) below(path string) bool {
	rest, ok := strings.CutPrefix(path, f.path)
	return ok && (rest == "" || rest[0] == '/' || rest == "."+page.Chinese)
}
