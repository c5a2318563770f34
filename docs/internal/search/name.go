package search

import (
	"slices"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// javaSector is the sector about the Java library. Its pages use common words, such as
// filter, but most users look for the Go packages.
const javaSector = "base-java"

// javaWords are the words of a query that is about Java.
var javaWords = set(`java jvm spring springboot webflux flux mono reactor mybatis dubbo triple
	servlet tomcat maven gradle jackson hibernate jpa pagedto resultutil businessexception`)

const (
	// namedFactor puts the page whose title or keyword is the query before the others.
	namedFactor = 4
	// javaFactor puts Java pages behind the others if the query is not about Java.
	javaFactor = 0.1
)

// addNames adds the title and the keywords of a page to the names of the index. The
// entry is the first one of the page.
func (b *builder) addNames(p *page.Page, entry uint32) {
	for _, name := range append([]string{p.Title}, p.Keywords...) {
		var key []byte
		t := tokenizer{emit: func(t token) { key = appendName(key, t) }}
		t.read(name, 0)
		if len(key) > 0 && !slices.Contains(b.index.named[string(key)], entry) {
			b.index.named[string(key)] = append(b.index.named[string(key)], entry)
		}
	}
}

// appendName appends the stem of a word to a name. Pieces of words and words that do not
// count are left out.
func appendName(key []byte, t token) []byte {
	if t.kind != plain && t.kind != whole || stopWords[string(t.term)] {
		return key
	}
	if len(key) > 0 {
		key = append(key, ' ')
	}
	start := len(key)
	key = append(key, t.term...)
	return key[:start+len(stem(key[start:]))]
}
