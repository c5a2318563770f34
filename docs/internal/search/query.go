package search

import (
	_ "embed"
	"math"
	"slices"
	"strings"
)

// stopWords do not count beside other words of a query. They are folded as the index
// folds words, the Chinese ones in pairs.
var stopWords = set(`a about all am an and are as at be been being but by can could did do doe for from get had has have how i if in
	into is it its may me my of on or our own please shall should so some than that the their them then there these they this to us
	use using was we were what when where whether which who why will with would you your
	如何 怎么 怎样 什么 是什 么是 为什 么用 哪些 可以 是否 怎麼 什麼 請問 请问 一个 一下`)

// javaWords are the words of a query that is about Java.
var javaWords = set(`java jvm spring springboot webflux flux mono reactor mybatis dubbo triple
	servlet tomcat maven gradle jackson hibernate jpa pagedto resultutil businessexception`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

//go:embed glossary.txt
var glossaryText string

// glossary gives the English words for a Chinese one, so that a page which is not
// translated is found all the same.
var glossary = newGlossary(glossaryText)

// newGlossary reads lines such as "迁移: migration"; # begins a comment.
func newGlossary(text string) map[string][]string {
	g := map[string][]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if word, english, ok := strings.Cut(line, ":"); ok {
			g[strings.TrimSpace(word)] = strings.Fields(english)
		}
	}
	return g
}

// Weights of the terms by which a word is found, beside the word itself.
const (
	pieceWeight  = 0.4
	kinWeight    = 0.5 // of another form of the word
	prefixWeight = 0.6 // of a word that begins with it
	// prefixShare is how much of a word an entry holds by a longer one, when the
	// documentation has the word itself.
	prefixShare = 0.8
)

// A query is what the words of a Query mean.
type query struct {
	text   string
	units  []unit
	near   []phrase
	absent []token // the words that the documentation lacks
	name   string  // in the form of the names of the index
	marks  []mark  // what an excerpt should hold: roots, pairs and translations
	dense  bool    // whether it has characters of a script without blanks
	java   bool    // whether it is about Java
}

// A mark is a word that an excerpt should hold.
type mark struct {
	root   string
	weight float64
}

// A unit is what counts as one word of a query: a word with its pieces, or a text without
// blanks with its pairs.
type unit struct {
	alternatives []alternative
	expansions   []alternative // terms that begin with the word

	first      token
	start, end int // in the query, in bytes
}

// An alternative is a term by which a unit is found.
type alternative struct {
	*term

	weight float64 // with the rarity
	share  float64 // of the unit that an entry with the term holds
}

// parse reads a query. Words that do not count are left out when others are left, and so
// are words that were there before.
func (ix *Index) parse(text string) query {
	q := query{text: shorten(text)}
	list := tokens(q.text)
	q.name = nameOf(list)
	for _, t := range list {
		q.dense = q.dense || t.kind == pair
		q.java = q.java || javaWords[t.term] || t.kind != piece && ix.isJavaOnly(t.term)
	}
	groups := groupsOf(list)
	counts := func(t token) bool { return t.kind == piece || !stopWords[t.term] }
	if slices.ContainsFunc(list, counts) {
		groups = slices.DeleteFunc(groups,
			func(g []token) bool { return !slices.ContainsFunc(g, counts) })
	}
	seen := map[string]bool{}
	for _, g := range groups {
		isLast := g[len(g)-1] == list[len(list)-1]
		if written := q.text[g[0].start:g[len(g)-1].end]; !seen[written] {
			seen[written] = true
			q.add(ix, g, written, isLast)
		}
	}
	q.neighbours()
	return q
}

// isJavaOnly reports whether the term occurs, and in pages about Java only.
func (ix *Index) isJavaOnly(text string) bool {
	t := ix.terms[text]
	return t != nil && !stopWords[text] && !slices.ContainsFunc(t.postings, func(p posting) bool {
		return ix.entries[p.entry].page.Sector.Name != javaSector
	})
}

// groupsOf splits tokens into words and runs of pairs.
func groupsOf(list []token) [][]token {
	var groups [][]token
	for from := 0; from < len(list) && len(groups) < MaxWords; {
		to := from + 1
		for to < len(list) && list[to].start < list[to-1].end {
			to++
		}
		groups = append(groups, list[from:to])
		from = to
	}
	return groups
}

// add adds a word or a run.
func (q *query) add(ix *Index, group []token, written string, isLast bool) {
	first := group[0]
	u := unit{first: first, start: first.start, end: group[len(group)-1].end}
	switch {
	case first.kind != pair:
		u.pieces(ix, group)
		if len(group) == 1 {
			u.relatives(ix, first.term)
		}
		if isLast {
			u.expand(ix, ix.beginning(beginningOf(written)), len(written))
		}
		if len(u.alternatives)+len(u.expansions) == 0 {
			q.absent = append(q.absent, first)
		}
	case len(group) == 1:
		u.expand(ix, ix.holding(first.term), len(first.term))
		u.translate(ix, written)
	default:
		u.pairs(ix, group)
		u.translate(ix, written)
		q.runs(ix, group)
	}
	for _, t := range group {
		q.mark(t.term, 1)
	}
	for _, a := range u.alternatives {
		q.mark(a.text, a.rarity)
	}
	q.units = append(q.units, u)
}

// mark adds a word to those that an excerpt should hold, or changes its weight.
func (q *query) mark(term string, weight float64) {
	r := root(term)
	i := slices.IndexFunc(q.marks, func(m mark) bool { return m.root == r })
	if i < 0 {
		q.marks = append(q.marks, mark{r, weight})
	} else {
		q.marks[i].weight = weight
	}
}

// beginningOf is a word as that of a term, of which more may follow.
func beginningOf(written string) string {
	return fold(strings.Join(strings.FieldsFunc(written, isConnector), ""))
}

// pieces adds a word: as a whole, and by its pieces.
func (u *unit) pieces(ix *Index, group []token) {
	for _, t := range group {
		known := ix.terms[t.term]
		switch {
		case known == nil:
		case t.kind == piece:
			u.alternatives = append(u.alternatives,
				alternative{known, pieceWeight * known.rarity, 1 / float64(max(1, len(group)-1))})
		default:
			u.alternatives = append(u.alternatives, alternative{known, known.rarity, 1})
		}
	}
}

// relatives adds the terms that have the stem of a word. None is rarer than all of them
// are together: validated says no more than validation because fewer pages have it.
func (u *unit) relatives(ix *Index, word string) {
	kin := ix.stems[stem(word)]
	rarity := ix.rarity(word, count(kin))
	for _, t := range kin {
		if t.text != word {
			u.alternatives = append(u.alternatives,
				alternative{t, kinWeight * min(t.rarity, rarity), 1})
		}
	}
}

// pairs adds a run by those of its pairs that the documentation has. A pair that it lacks
// is most often the end of one word and the beginning of the next.
func (u *unit) pairs(ix *Index, group []token) {
	var found []*term
	for _, t := range group {
		if known := ix.terms[t.term]; known != nil && !stopWords[t.term] {
			found = append(found, known)
		}
	}
	u.share(found)
}

// translate adds the English words for a run, the longest Chinese words first.
func (u *unit) translate(ix *Index, run string) {
	var found []*term
	for run != "" {
		var words []string
		size := 0
		for end := range run + " " {
			if end == 0 {
				continue
			}
			if size == 0 {
				size = end
			}
			if translated := glossary[run[:end]]; translated != nil {
				words, size = translated, end
			}
		}
		for _, english := range words {
			if known := ix.terms[singular(english)]; known != nil {
				found = append(found, known)
			}
		}
		run = run[size:]
	}
	u.share(found)
}

// share adds terms that make up the unit together.
func (u *unit) share(terms []*term) {
	for _, t := range terms {
		u.alternatives = append(u.alternatives, alternative{t, t.rarity, 1 / float64(len(terms))})
	}
}

// expand adds terms that are longer than the word, but for those that are alternatives
// already. All of them are as rare as they are together: a long rare word must not win
// because it begins like a common one.
func (u *unit) expand(ix *Index, terms []*term, length int) {
	terms = slices.DeleteFunc(slices.Clone(terms), func(t *term) bool {
		return slices.ContainsFunc(u.alternatives, func(a alternative) bool { return a.term == t })
	})
	share := 1.0
	if len(u.alternatives) > 0 {
		share = prefixShare
	}
	for _, t := range terms {
		likeness := math.Sqrt(float64(length) / float64(len(t.text)))
		u.expansions = append(u.expansions,
			alternative{t, prefixWeight * ix.rarity(t.text, count(terms)) * likeness, share})
	}
}

// count is how many entries have one of the terms, those with several of them counted for
// each.
func count(terms []*term) int {
	n := 0
	for _, t := range terms {
		n += len(t.postings)
	}
	return n
}
