package search

import (
	_ "embed"
	"math"
	"slices"
	"strings"
)

// stopWords are ignored if a query has other words. They are normalized like the terms of
// the index; Chinese ones are pairs.
var stopWords = set(`a about all am an and are as at be been being but by can could did do doe for from get had has have how i if in
	into is it its may me my of on or our own please shall should so some than that the their them then there these they this to us
	use using was we were what when where whether which who why will with would you your
	如何 怎么 怎样 什么 是什 么是 为什 么用 哪些 可以 是否 怎麼 什麼 請問 请问 一个 一下`)

// javaWords mark a query as one about Java.
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

// glossary maps Chinese words to English ones, so that Chinese queries find pages without
// a translation.
var glossary = newGlossary(glossaryText)

// newGlossary parses lines such as "迁移: migration". A number sign starts a comment.
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

// Weights of the terms that match a word only in part.
const (
	pieceWeight   = 0.4
	relatedWeight = 0.5 // another form of the word
	prefixWeight  = 0.6 // a word with this prefix
	// prefixShare is the share of a longer word if the documentation contains the word
	// itself.
	prefixShare = 0.8
)

// A query is a parsed Query.
type query struct {
	text   string
	units  []unit
	near   []phrase
	absent []token // words that do not occur in the documentation
	name   string  // key of Index.named
	marks  []mark  // words to show in excerpts: roots, pairs and translations
	dense  bool    // whether it contains Chinese, Japanese or Korean characters
	java   bool    // whether it is about Java
}

// A mark is a word to show in an excerpt.
type mark struct {
	root   string
	weight float64
}

// A unit is a word of a query with its parts, or a run of Chinese characters with its
// pairs.
type unit struct {
	alternatives []alternative
	expansions   []alternative // terms with this prefix

	first      token
	start, end int // byte offsets in the query
}

// An alternative is a term that matches a unit.
type alternative struct {
	*term

	weight float64 // including the rarity
	share  float64 // share of the unit that the term covers
}

// parse parses a query. It drops repeated words, and stop words if there are other words.
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
	q.addPhrases()
	return q
}

// isJavaOnly reports whether a term occurs in Java pages, and in no other page.
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

// add adds the unit of a word or of a run of pairs.
func (q *query) add(ix *Index, group []token, written string, isLast bool) {
	first := group[0]
	u := unit{first: first, start: first.start, end: group[len(group)-1].end}
	switch {
	case first.kind != pair:
		u.addPieces(ix, group)
		if len(group) == 1 {
			u.addRelatives(ix, first.term)
		}
		if isLast {
			u.addExpansions(ix, ix.withPrefix(prefixOf(written)), len(written))
		}
		if len(u.alternatives)+len(u.expansions) == 0 {
			q.absent = append(q.absent, first)
		}
	case len(group) == 1:
		u.addExpansions(ix, ix.containing(first.term), len(first.term))
		u.addTranslations(ix, written)
	default:
		u.addPairs(ix, group)
		u.addTranslations(ix, written)
		q.addRuns(ix, group)
	}
	for _, t := range group {
		q.mark(t.term, 1)
	}
	for _, a := range u.alternatives {
		q.mark(a.text, a.rarity)
	}
	q.units = append(q.units, u)
}

// mark adds a mark, or changes its weight.
func (q *query) mark(term string, weight float64) {
	r := root(term)
	i := slices.IndexFunc(q.marks, func(m mark) bool { return m.root == r })
	if i < 0 {
		q.marks = append(q.marks, mark{r, weight})
	} else {
		q.marks[i].weight = weight
	}
}

// prefixOf returns a word, which may be incomplete, in the form of a term.
func prefixOf(written string) string {
	return fold(strings.Join(strings.FieldsFunc(written, isConnector), ""))
}

// addPieces adds a word and its parts.
func (u *unit) addPieces(ix *Index, group []token) {
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

// addRelatives adds the terms with the stem of a word. Their rarity is at most the rarity
// of all of them together, so that a rare form does not outrank a common one.
func (u *unit) addRelatives(ix *Index, word string) {
	relatives := ix.stems[stem(word)]
	rarity := ix.rarity(word, count(relatives))
	for _, t := range relatives {
		if t.text != word {
			u.alternatives = append(u.alternatives,
				alternative{t, relatedWeight * min(t.rarity, rarity), 1})
		}
	}
}

// addPairs adds the pairs of a run that the index contains. A missing pair usually spans
// two words.
func (u *unit) addPairs(ix *Index, group []token) {
	var found []*term
	for _, t := range group {
		if known := ix.terms[t.term]; known != nil && !stopWords[t.term] {
			found = append(found, known)
		}
	}
	u.addShares(found)
}

// addTranslations adds the English words for a run. It prefers the longest Chinese words.
func (u *unit) addTranslations(ix *Index, run string) {
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
	u.addShares(found)
}

// addShares adds terms that cover the unit together.
func (u *unit) addShares(terms []*term) {
	for _, t := range terms {
		u.alternatives = append(u.alternatives, alternative{t, t.rarity, 1 / float64(len(terms))})
	}
}

// addExpansions adds the terms with the prefix that are not alternatives yet. All of them
// have the rarity of the group, so that a long rare word does not win because of a common
// prefix.
func (u *unit) addExpansions(ix *Index, terms []*term, length int) {
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

// count returns the number of entries with one of the terms. An entry with several terms
// counts several times.
func count(terms []*term) int {
	n := 0
	for _, t := range terms {
		n += len(t.postings)
	}
	return n
}
