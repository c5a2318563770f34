package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// A field is a part of an entry in which words count differently.
type field uint8

const (
	fieldTitle field = iota
	fieldHeading
	fieldDescription
	fieldText
	fieldPath
	fieldKeywords
	fields
)

// Weights of a word in a field. The title, the path and the description of a page belong to all of its sections, but mostly to
// what stands before the first heading, since who searches for the page wants its beginning.
var (
	weights   = [fields]float32{fieldTitle: 5, fieldHeading: 3, fieldDescription: 2, fieldText: 1, fieldPath: 1.5, fieldKeywords: 2}
	inherited = [fields]float32{fieldTitle: 3, fieldDescription: 1, fieldPath: 0.3}
	// lengthShare is how much a field's length counts against its words (b of BM25).
	lengthShare = [fields]float32{fieldTitle: 0.4, fieldHeading: 0.4, fieldDescription: 0.5, fieldText: 0.75, fieldPath: 0.4}
	// kindWeights count a piece of a word for less than the word.
	kindWeights = [...]float32{plain: 1, whole: 1, component: 0.8, part: 0.5, ideograph: 1}
)

const (
	saturation = 1.2 // k1 of BM25
	fieldGap   = 8   // positions between fields, so that no phrase goes from one into the next
	nowhere    = math.MaxUint32
)

// New returns the index of a library.
func New(l *page.Library) *Index {
	ix := &Index{named: map[string][]uint32{}, glossary: newGlossary(glossaryText), synonyms: newSynonyms(synonymsText)}
	b := &builder{index: ix, ids: make(map[string]uint32, 1<<13)}
	b.tokens.emit = b.add
	b.found = make([]occurrence, 0, expected(l))
	for i, p := range l.Pages() {
		b.page(i, p)
	}
	b.finish()
	ix.scratch.New = func() any { return newScratch(ix) }
	return ix
}

// expected is about how many tokens a library has.
func expected(l *page.Library) int {
	const bytesPerToken = 3
	n := 0
	for _, p := range l.Pages() {
		n += len(p.Body)
	}
	return n / bytesPerToken
}

// An occurrence is a token of an entry's field.
type occurrence struct {
	term     uint32
	entry    uint32
	position uint32 // nowhere for what is inherited
	field    field
	kind     kind
	passed   bool // inherited from the page
}

type builder struct {
	index   *Index
	tokens  tokenizer
	ids     map[string]uint32
	terms   []string
	display []string
	found   []occurrence
	common  []occurrence // of the page's title, description and path
	lengths [][fields]uint32
	sum     [fields]float64

	entry    uint32
	field    field
	into     *[]occurrence
	starts   []uint32 // of the words of the entry's text
	textBase uint32
}

// page adds the sections of a page. A page always has a first one.
func (b *builder) page(number int, p *page.Page) {
	var common [fields]uint32
	b.common, b.into = b.common[:0], &b.common
	common[fieldTitle] = b.read(fieldTitle, p.Title, 0)
	descriptionAt := common[fieldTitle] + fieldGap
	common[fieldDescription] = b.read(fieldDescription, p.Description, descriptionAt)
	pathAt := descriptionAt + common[fieldDescription] + fieldGap
	common[fieldPath] = b.read(fieldPath, strings.TrimSuffix(p.Path, "."+page.Chinese), pathAt)
	b.into = &b.found
	for i, s := range p.Sections {
		b.entry = uint32(len(b.index.entries)) // there are no 2^32 sections
		e := entry{page: p, number: number, heading: s.Heading, anchor: s.Anchor, text: s.Text}
		if i == 0 && e.text == "" {
			e.text = p.Description
		}
		length := common
		headingAt := uint32(0)
		if i == 0 {
			e.headEnd = common[fieldTitle]
			keywordsAt := pathAt + common[fieldPath] + fieldGap
			length[fieldKeywords] = b.read(fieldKeywords, strings.Join(p.Keywords, ", "), keywordsAt)
			headingAt = keywordsAt + length[fieldKeywords] + fieldGap
			b.addNames(p, b.entry)
		}
		b.inherit(i)
		length[fieldHeading] = b.read(fieldHeading, s.Heading, headingAt)
		if i > 0 {
			e.headEnd = length[fieldHeading]
		}
		e.textBase = headingAt + length[fieldHeading] + fieldGap
		length[fieldText] = b.readText(&e)
		b.index.entries = append(b.index.entries, e)
		if p.Language == page.Chinese {
			b.index.chinese++
		}
		b.lengths = append(b.lengths, length)
		for f, n := range length {
			b.sum[f] += float64(n)
		}
	}
}

// inherit gives the words of the page to one of its sections. They have a position in the first only, so that they make a
// phrase once.
func (b *builder) inherit(section int) {
	passed := section > 0
	for _, o := range b.common {
		o.entry, o.passed = b.entry, passed
		if passed {
			o.position = nowhere
		}
		b.found = append(b.found, o)
	}
}

func (b *builder) read(f field, text string, first uint32) uint32 {
	b.field = f
	return uint32(b.tokens.read(text, int(first))) // a text has no 2^32 words
}

// readText reads an entry's text and keeps where its words begin, which the excerpt needs.
func (b *builder) readText(e *entry) uint32 {
	b.starts, b.textBase = b.starts[:0], e.textBase
	n := b.read(fieldText, e.text, e.textBase)
	e.starts = slices.Clone(b.starts)
	e.window = excerptRunes * len(e.text) / max(1, utf8.RuneCountInString(e.text))
	return n
}

// add takes a token from the tokenizer.
func (b *builder) add(t token) {
	id, known := b.ids[string(t.term)]
	if !known {
		id = uint32(len(b.terms)) // there are no 2^32 words
		term := string(t.term)
		b.ids[term] = id
		b.terms, b.display = append(b.terms, term), append(b.display, "")
	}
	if t.kind == plain || t.kind == whole {
		b.show(id, b.tokens.text[t.start:t.end], t.kind)
	}
	if b.field == fieldText {
		for n := uint32(t.position) - b.textBase; uint32(len(b.starts)) <= n; { // not negative
			b.starts = append(b.starts, uint32(t.start)) // not negative
		}
	}
	*b.into = append(*b.into, occurrence{
		term: id, entry: b.entry, position: uint32(t.position), field: b.field, kind: t.kind, // not negative
	})
}

// show keeps the shortest way in which a word is written.
func (b *builder) show(id uint32, written string, k kind) {
	if now := b.display[id]; now != "" && len(now) <= len(written) {
		return
	}
	if k == plain {
		written = strings.ToLower(written)
	}
	b.display[id] = written
}

// finish sorts the terms and turns occurrences into postings.
func (b *builder) finish() {
	ix := b.index
	order := make([]uint32, len(b.terms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(b.terms[x], b.terms[y]) })
	ix.terms, ix.display = make([]string, len(order)), make([]string, len(order))
	rank := make([]uint32, len(order))
	for i, id := range order {
		rank[id] = uint32(i)
		ix.terms[i], ix.display[i] = b.terms[id], b.display[id]
		if ix.display[i] == "" {
			ix.display[i] = ix.terms[i]
		}
	}
	ix.letters = make([]uint32, len(order))
	for i, term := range ix.terms {
		ix.letters[i] = lettersOf(term)
	}
	ix.kin = newKinship(ix.terms)
	b.post(b.sorted(rank))
	ix.idf = make([]float32, len(ix.terms))
	for i := range ix.terms {
		ix.idf[i] = ix.rarity(int(ix.bounds[i+1]-ix.bounds[i]), ix.entriesLike(ix.terms[i]))
	}
}

// entriesLike is the number of entries in which a term could stand. Few pages are translated, and without this each Chinese word
// would be rarer than any English one.
func (ix *Index) entriesLike(term string) int {
	if r, _ := utf8.DecodeRuneInString(term); isDense(r) {
		return ix.chinese
	}
	return len(ix.entries)
}

// rarity is the inverse document frequency of what stands in n of so many entries. It is never negative.
func (ix *Index) rarity(n, of int) float32 {
	return float32(math.Log1p((float64(max(of-n, 0)) + 0.5) / (float64(n) + 0.5)))
}

// sorted returns the occurrences by term; those of a term stay in order of entry and position.
func (b *builder) sorted(rank []uint32) []occurrence {
	ends := make([]uint32, len(rank)+1)
	for i := range b.found {
		b.found[i].term = rank[b.found[i].term]
		ends[b.found[i].term+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	all := make([]occurrence, len(b.found))
	for _, o := range b.found {
		all[ends[o.term]] = o
		ends[o.term]++
	}
	return all
}

// post makes one posting of the occurrences of a term in an entry.
func (b *builder) post(all []occurrence) {
	ix := b.index
	norms := b.norms()
	ix.bounds = make([]uint32, len(ix.terms)+1)
	ix.positions = make([]uint32, 0, len(all))
	ix.postings = make([]posting, 0, len(all)/2)
	for i := 0; i < len(all); {
		p := posting{entry: all[i].entry, first: uint32(len(ix.positions))} // there are no 2^32 words
		term := all[i].term
		for ; i < len(all) && all[i].term == term && all[i].entry == p.entry; i++ {
			o := all[i]
			p.frequency += norms.of(o)
			if o.position != nowhere && (len(ix.positions) == int(p.first) || ix.positions[len(ix.positions)-1] != o.position) {
				ix.positions = append(ix.positions, o.position)
			}
		}
		p.frequency *= (saturation + 1) / (saturation + p.frequency)
		ix.postings = append(ix.postings, p)
		ix.bounds[term+1] = uint32(len(ix.postings)) // there are no 2^32 postings
	}
	ix.postings, ix.positions = slices.Clip(ix.postings), slices.Clip(ix.positions)
}

// norms weighs an occurrence by its field, the length of the field, and its kind.
type norms struct {
	lengths [][fields]uint32
	average [fields]float32
}

func (b *builder) norms() norms {
	n := norms{lengths: b.lengths}
	for f, sum := range b.sum {
		n.average[f] = max(1, float32(sum)/max(1, float32(len(b.lengths))))
	}
	return n
}

func (n norms) of(o occurrence) float32 {
	weight := weights[o.field]
	if o.passed {
		weight = inherited[o.field]
	}
	share := lengthShare[o.field]
	length := float32(n.lengths[o.entry][o.field]) / n.average[o.field]
	return weight * kindWeights[o.kind] / (1 - share + share*length)
}

// oneLine makes each run of blanks and line breaks one blank.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}
