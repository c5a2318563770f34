package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// An Index is the searchable form of a library. It never changes after New and may be
// searched by several goroutines at once.
type Index struct {
	entries []entry
	chinese int // how many of them are
	terms   map[string]*term
	sorted  []*term            // by their text, so that those with a prefix are neighbours
	stems   map[string][]*term // by their stem
	named   map[string][]int   // entries by the title and the keywords of their page
}

// An entry is one section of a page.
type entry struct {
	page    *page.Page
	section markup.Section
	head    string // the heading, or the title of the page, in small letters
	isFirst bool   // whether it is the first section of the page
	lower   string // the text in small letters, byte by byte where the text has it
}

// A term is a word of the documentation, or a piece of one.
type term struct {
	text     string
	display  string // how the documentation writes it, for suggestions
	postings []posting
	rarity   float64 // inverse document frequency
}

// A posting says that an entry has a term.
type posting struct {
	entry     int32
	fields    fieldSet
	frequency float32 // over all fields, weighted, and saturated as BM25 asks, without the rarity
}

// A fieldSet contains the fields in which an entry has a term, of those that decide the
// level of a match.
type fieldSet uint8

const (
	inTitle fieldSet = 1 << iota
	inHeading
)

// A field is a part of an entry in which words count differently.
type field struct {
	weight    float64
	inherited float64 // the weight in the sections after the first
	share     float64 // how much its length counts against its words (b of BM25)
	usual     float64 // its usual length in words
	set       fieldSet
}

// The title, the path and the description of a page belong to all of its sections, but
// mostly to what stands before the first heading, since who searches for the page wants
// its beginning.
var (
	title       = field{weight: 5, inherited: 3, share: 0.4, usual: 2, set: inTitle}
	heading     = field{weight: 2.5, inherited: 2.5, share: 0.4, usual: 2, set: inHeading}
	description = field{weight: 2, inherited: 1, share: 0.5, usual: 14}
	body        = field{weight: 1, inherited: 1, share: 0.75, usual: 60}
	path        = field{weight: 1.5, inherited: 0.3, share: 0.4, usual: 1}
	keywords    = field{weight: 2}
)

const (
	saturation  = 1.2 // k1 of BM25
	pieceFactor = 0.7 // of a piece of a word, which counts for less than the word
)

// New returns the index of a library.
func New(l *page.Library) *Index {
	ix := &Index{terms: map[string]*term{}, stems: map[string][]*term{}, named: map[string][]int{}}
	for _, p := range l.Pages() {
		for i, s := range p.Sections {
			if i == 0 {
				ix.addNames(p)
				s.Text = cmp.Or(s.Text, oneLine(p.Description))
			}
			ix.addEntry(p, s, i == 0)
		}
	}
	for _, t := range ix.terms {
		for i := range t.postings {
			f := float64(t.postings[i].frequency)
			t.postings[i].frequency = float32(f * (saturation + 1) / (saturation + f))
		}
		t.rarity = ix.rarity(t.text, len(t.postings))
		ix.sorted = append(ix.sorted, t)
	}
	slices.SortFunc(ix.sorted, func(a, b *term) int { return strings.Compare(a.text, b.text) })
	for _, t := range ix.sorted {
		root := stem(t.text)
		ix.stems[root] = append(ix.stems[root], t)
	}
	return ix
}

// addNames adds the title and the keywords of a page to the names of the index. Its first
// entry is the next one.
func (ix *Index) addNames(p *page.Page) {
	for _, name := range append([]string{p.Title}, p.Keywords...) {
		if key := nameOf(tokens(name)); key != "" &&
			!slices.Contains(ix.named[key], len(ix.entries)) {
			ix.named[key] = append(ix.named[key], len(ix.entries))
		}
	}
}

// nameOf returns the stems of words, without pieces of words and words that do not count.
func nameOf(list []token) string {
	var roots []string
	for _, t := range list {
		if t.kind != piece && !stopWords[t.term] {
			roots = append(roots, stem(t.term))
		}
	}
	return strings.Join(roots, " ")
}

// addEntry adds a section of a page.
func (ix *Index) addEntry(p *page.Page, s markup.Section, isFirst bool) {
	number := len(ix.entries)
	s.Text = strings.ToValidUTF8(s.Text, "")
	e := entry{
		page: p, section: s, head: strings.ToLower(cmp.Or(s.Heading, p.Title)),
		lower: strings.ToLower(s.Text), isFirst: isFirst,
	}
	if len(e.lower) != len(s.Text) { // in some languages
		e.lower = s.Text
	}
	ix.entries = append(ix.entries, e)
	if p.Language == page.Chinese {
		ix.chinese++
	}
	add := func(f field, text string) {
		weight := f.inherited
		if isFirst {
			weight = f.weight
		}
		ix.add(number, f, weight, text)
	}
	add(title, p.Title)
	add(description, p.Description)
	add(path, strings.TrimSuffix(p.Path, "."+page.Chinese))
	if isFirst {
		add(keywords, strings.Join(p.Keywords, ", "))
	}
	add(heading, s.Heading)
	add(body, s.Text)
}

// add adds the words of a field of an entry.
func (ix *Index) add(number int, f field, weight float64, text string) {
	list := tokens(text)
	words := 0
	for _, t := range list {
		if t.kind != piece {
			words++
		}
	}
	if f.share > 0 {
		weight /= 1 - f.share + f.share*float64(words)/f.usual
	}
	for _, t := range list {
		known := ix.terms[t.term]
		if known == nil {
			known = &term{text: t.term, display: t.term}
			ix.terms[t.term] = known
		}
		known.show(t, text)
		last := len(known.postings) - 1
		if last < 0 || known.postings[last].entry != int32(number) {
			known.postings = append(known.postings, posting{entry: int32(number)})
			last++
		}
		known.postings[last].fields |= f.set
		if t.kind == piece {
			known.postings[last].frequency += float32(weight * pieceFactor)
		} else {
			known.postings[last].frequency += float32(weight)
		}
	}
}

// show keeps the shortest way in which an identifier is written. Of other words the term
// is good enough.
func (t *term) show(at token, text string) {
	written := text[at.start:at.end]
	isShorter := t.display == t.text || len(written) < len(t.display)
	if at.kind == word && isShorter &&
		(camel(written) != nil || strings.ContainsFunc(written, isConnector)) {
		t.display = written
	}
}

// rarity is the inverse document frequency of a term that stands in n entries. It is
// never negative. Few pages are translated: a Chinese word is compared with the Chinese
// entries, or it would be rarer than any English one.
func (ix *Index) rarity(text string, n int) float64 {
	of := len(ix.entries)
	if strings.IndexFunc(text, isDense) == 0 {
		of = ix.chinese
	}
	return math.Log1p((float64(max(of-n, 0)) + 0.5) / (float64(n) + 0.5))
}

// beginning returns the terms that begin with a prefix.
func (ix *Index) beginning(prefix string) []*term {
	from, _ := slices.BinarySearchFunc(ix.sorted, prefix,
		func(t *term, p string) int { return strings.Compare(t.text, p) })
	to := from
	for to < len(ix.sorted) && strings.HasPrefix(ix.sorted[to].text, prefix) {
		to++
	}
	return ix.sorted[from:to]
}

// holding returns the terms of scripts without blanks in which a character stands.
func (ix *Index) holding(character string) []*term {
	var found []*term
	for _, t := range ix.sorted {
		if strings.Contains(t.text, character) {
			found = append(found, t)
		}
	}
	return found
}
