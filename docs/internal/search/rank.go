package search

import (
	"math"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// A key is an entry with its rank: the greater, the better. From the highest bit: its score as the bits of a float32 (which sort as
// numbers where they are positive), and the number of the entry, the first the greatest.
type key uint64

const (
	entryBits = 31
	entryMask = 1<<entryBits - 1
	scoreMask = math.MaxUint32
)

func newKey(entry int, score float32) key {
	return key(math.Float32bits(score))<<entryBits | key(entryMask-entry) // there are no 2^31 entries
}

func (k key) entry() uint32 { return uint32(entryMask - k&entryMask) }

func (k key) score() float32 { return math.Float32frombits(uint32(k >> entryBits & scoreMask)) }

const (
	// coverage is how much of a score is lost by an entry that holds next to none of the words.
	coverage = 0.7
	// complete is the bonus of an entry that holds all words.
	complete = 1.5
	// nearlyAll allows for shares that do not add up to 1.
	nearlyAll = 0.999
)

// rank returns the entries that pass the filter, the best first.
func (s *scratch) rank(f filter) []key {
	s.keys = s.keys[:0]
	units := float32(len(s.units))
	named := s.ix.named[string(s.name)]
	for i := range s.tallies {
		t := &s.tallies[i]
		if t.total <= 0 {
			continue
		}
		factor := f.factor(s.ix.entries[i].page)
		if factor == 0 {
			continue
		}
		held := t.held / units
		if slices.Contains(named, uint32(i)) {
			factor *= namedFactor
		}
		score := t.total * factor * (1 - coverage + coverage*held*held)
		if held >= nearlyAll {
			score *= complete
		}
		s.keys = append(s.keys, newKey(i, score))
	}
	slices.SortFunc(s.keys, func(a, b key) int {
		if a > b {
			return -1
		}
		return 1
	})
	return s.spread()
}

// spread puts what a page has beyond its first entries behind the first entries of all pages.
func (s *scratch) spread() []key {
	clear(s.ofPage)
	s.behind = s.behind[:0]
	kept := s.keys[:0]
	for _, k := range s.keys {
		n := &s.ofPage[s.ix.entries[k.entry()].number]
		if *n == perPage {
			s.behind = append(s.behind, k)
			continue
		}
		*n++
		kept = append(kept, k)
	}
	s.keys = append(kept, s.behind...)
	return s.keys
}

// Factors of pages that are not in the language of the query.
const (
	foreign     = 0.85
	foreignTwin = 0.25 // and are translated
)

// A filter says which pages a query means, and how much.
type filter struct {
	sector  string
	path    string
	chinese bool // whether the query is
	java    bool // whether Java pages count as much as others
}

func newFilter(q Query, chinese, java bool) filter {
	path := strings.Trim(q.Path, "/")
	if path != "" {
		path = "/" + path
	}
	return filter{sector: q.Sector, path: path, chinese: chinese, java: java || q.Sector == javaSector}
}

// factor is what the score of a page's entries is multiplied by. Those of 0 are not found.
func (f filter) factor(p *page.Page) float32 {
	if f.sector != "" && p.Sector.Name != f.sector || !f.below(p.Path) {
		return 0
	}
	if p.Sector.Name == javaSector && !f.java {
		return javaFactor * f.language(p)
	}
	return f.language(p)
}

// language is the part of the factor that is due to the language of a page.
func (f filter) language(p *page.Page) float32 {
	switch isChinese := p.Language == page.Chinese; {
	case isChinese == f.chinese:
		return 1
	case p.Twin == nil:
		return foreign
	case f.chinese, f.path == p.Path:
		return foreignTwin
	default:
		return 0
	}
}

// below tells whether a page is the one of the filter, its translation, or lies below it.
func (f filter) below(path string) bool {
	rest, ok := strings.CutPrefix(path, f.path)
	return ok && (rest == "" || rest[0] == '/' || rest == "."+page.Chinese)
}
