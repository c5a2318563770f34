// Package masking masks log values by their keys.
package masking

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/plinthgo/plinth/core/internal/jsonenc"
)

// Masked replaces a masked value.
const Masked = "***"

// Set is an immutable set of keys to mask.
type Set struct {
	last   []string
	starts triples // the first letters of every word
	short  bool    // a word has fewer than three letters
	values jsonenc.Encoder

	// decided caches results of lookup. The first key in a slot is not replaced, and long
	// keys are not cached, so its size is bounded.
	decided [512]atomic.Pointer[decision]
}

type decision struct {
	key    string
	masked bool
}

// New returns the set of the built-in keys.
func New() *Set { return (&Set{}).With(lastWords) }

// With returns a set with additional keys.
func (m *Set) With(keys []string) *Set {
	out := &Set{last: slices.Clone(m.last)}
	out.values = jsonenc.Encoder{KeepHTML: true, Replace: out.replace}
	for _, k := range keys {
		if k = string(parse(k, nil, nil).text); k != "" && !slices.Contains(out.last, k) {
			out.last = append(out.last, k)
		}
	}
	for _, w := range slices.Concat(strongWords, endWords, out.last) {
		if len(w) < 3 {
			out.short = true
			continue
		}
		out.starts.addStart(w)
	}
	return out
}

// Has reports whether the values of key are masked. It runs for every attribute, so it
// first checks the cache and then whether key contains the first three letters of a word.
func (m *Set) Has(key string) bool {
	n := len(key)
	if n == 0 {
		return false
	}
	slot := &m.decided[(uint(key[0])<<4+uint(key[n-1])<<3+uint(n))%uint(len(m.decided))]
	cached := slot.Load()
	if cached != nil && cached.key == key {
		return cached.masked
	}
	masked := (m.short || m.starts.matches(key)) && m.lookup(key)
	if cached == nil && n <= maxCachedKey {
		slot.Store(&decision{strings.Clone(key), masked})
	}
	return masked
}

// maxCachedKey is the length of the longest key that is cached and parsed without
// allocation.
const maxCachedKey = 64

// lookup is like Has, but uses neither the cache nor the check of the first letters.
func (m *Set) lookup(key string) bool {
	var text [maxCachedKey]byte
	var wordStart [maxCachedKey]bool
	k := parse(key, text[:0], wordStart[:0])
	for _, w := range strongWords {
		if bytes.Contains(k.text, []byte(w)) {
			return true
		}
	}
	n := len(bytes.TrimRightFunc(k.text, unicode.IsDigit))
	return m.masks(&k, n) || n < len(k.text) && m.masks(&k, len(k.text))
}

// masks reports whether the first n letters have a word of the set as suffix, or a last
// word and a qualifier.
func (m *Set) masks(k *letters, n int) bool {
	return m.hasWord(k, n) || slices.ContainsFunc(qualifiers, func(q string) bool {
		return k.hasSuffix(n, []string{q}, true) && m.hasLastWord(k, n-len(q))
	})
}

// hasWord reports whether the first n letters have a word of the set or its plural as
// suffix.
func (m *Set) hasWord(k *letters, n int) bool {
	return m.hasLastWord(k, n) || k.hasSuffix(n, endWords, false) ||
		k.isPlural(n) && k.hasSuffix(n-1, endWords, false) && !k.hasSuffix(n-1, countWords, true)
}

// hasLastWord reports whether the last word of the first n letters is in the set, or is
// the plural of a word in the set.
func (m *Set) hasLastWord(k *letters, n int) bool {
	return k.hasSuffix(n, m.last, true) || k.isPlural(n) && k.hasSuffix(n-1, m.last, true)
}

// letters are the letters of a key in lower case, without separators.
type letters struct {
	text      []byte
	wordStart []bool // the letter is the first of a word
}

// parse appends the letters of key to text and wordStart. A word starts at the start of
// the key and after a separator. It also starts at a capital letter that follows a small
// letter or a digit, or that precedes a small letter, as in "DBPass".
func parse(key string, text []byte, wordStart []bool) letters {
	for i := range len(key) {
		c := key[i]
		if isSeparator(c) {
			continue
		}
		wordStart = append(wordStart, i == 0 || isSeparator(key[i-1]) ||
			isUpper(c) && (!isUpper(key[i-1]) || i+1 < len(key) && isLower(key[i+1])))
		if isUpper(c) {
			c += 'a' - 'A'
		}
		text = append(text, c)
	}
	return letters{text, wordStart}
}

// hasSuffix reports whether the first n letters have one of words as suffix. If whole is
// set, the suffix must be a whole word.
func (k *letters) hasSuffix(n int, words []string, whole bool) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		at := n - len(w)
		return at >= 0 && string(k.text[at:n]) == w && (k.wordStart[at] || !whole)
	})
}

func (k *letters) isPlural(n int) bool { return n > 0 && k.text[n-1] == 's' }

func isUpper(b byte) bool     { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool     { return 'a' <= b && b <= 'z' }
func isSeparator(b byte) bool { return codes[b] == codeSeparator }
