package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// An Index is the searchable form of a library. It is immutable and safe for concurrent
// use.
type Index struct {
	entries []entry
	chinese int // number of Chinese entries
	terms   map[string]*term
	sorted  []*term            // by text, for searches by prefix
	stems   map[string][]*term // by stem
	named   map[string][]int   // entries by title and keywords of the page
}

// An entry is one section of a page.
type entry struct {
	page    *page.Page
	section markup.Section
	head    string // heading, or title of the page, in lower case
	isFirst bool   // whether it is the first section of its page
	lower   string // text in lower case, if it has the same length, or else the text
}

// A term is a word of the documentation, or a part of a word.
type term struct {
	text     string
	display  string // spelling in the documentation, for suggestions
	postings []posting
	rarity   float64 // inverse document frequency
}

// A posting records that an entry contains a term.
type posting struct {
	entry     int32
	fields    fieldSet
	frequency float32 // weighted over all fields and saturated (BM25), without the rarity
}

// A fieldSet is the set of fields in which an entry contains a term. It includes only the
// fields that decide the level of a match.
type fieldSet uint8

const (
	inTitle fieldSet = 1 << iota
	inHeading
)

// A field is a part of an entry with its own weight.
type field struct {
	weight    float64
	inherited float64 // weight in the sections after the first
	share     float64 // influence of the length (b of BM25)
	usual     float64 // usual length in words
	set       fieldSet
}

// Title, path and description of a page belong to all its sections. They count most for
// the first section, because it is the best result for the page.
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
	pieceFactor = 0.7 // of a part of a word
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

// addNames adds the title and the keywords of a page to ix.named. The next entry must be
// the first section of the page.
func (ix *Index) addNames(p *page.Page) {
	for _, name := range append([]string{p.Title}, p.Keywords...) {
		if key := nameOf(tokens(name)); key != "" &&
			!slices.Contains(ix.named[key], len(ix.entries)) {
			ix.named[key] = append(ix.named[key], len(ix.entries))
		}
	}
}

// nameOf returns the stems of words, without parts of words and stop words.
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
	if len(e.lower) != len(s.Text) { // lower case changes the length of some letters
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

// show records the shortest spelling of an identifier.
func (t *term) show(at token, text string) {
	written := text[at.start:at.end]
	isShorter := t.display == t.text || len(written) < len(t.display)
	if at.kind == word && isShorter &&
		(camel(written) != nil || strings.ContainsFunc(written, isConnector)) {
		t.display = written
	}
}

// rarity returns the inverse document frequency of a term with n entries. It is never
// negative. Chinese words are compared with the Chinese entries, because few pages are
// translated.
func (ix *Index) rarity(text string, n int) float64 {
	of := len(ix.entries)
	if strings.IndexFunc(text, isDense) == 0 {
		of = ix.chinese
	}
	return math.Log1p((float64(max(of-n, 0)) + 0.5) / (float64(n) + 0.5))
}

// withPrefix returns the terms with a prefix.
func (ix *Index) withPrefix(prefix string) []*term {
	from, _ := slices.BinarySearchFunc(ix.sorted, prefix,
		func(t *term, p string) int { return strings.Compare(t.text, p) })
	to := from
	for to < len(ix.sorted) && strings.HasPrefix(ix.sorted[to].text, prefix) {
		to++
	}
	return ix.sorted[from:to]
}

// containing returns the terms that contain a character.
func (ix *Index) containing(character string) []*term {
	var found []*term
	for _, t := range ix.sorted {
		if strings.Contains(t.text, character) {
			found = append(found, t)
		}
	}
	return found
}
