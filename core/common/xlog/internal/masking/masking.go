// Package masking knows which values of a log must not be shown, by their keys.
package masking

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/plinthgo/plinth/core/internal/jsonenc"
)

// Masked is shown in the place of a masked value.
const Masked = "***"

// Set knows the keys whose values are masked. Which ones does not change.
type Set struct {
	last   []string
	starts triples // how every word starts
	short  bool    // a word has less than three letters
	values jsonenc.Encoder

	// decided are answers of look. The first key in a place stays there, so nobody fills
	// it anew all the time, and long keys get none: it is bounded.
	decided [512]atomic.Pointer[answer]
}

// answer says whether the values of a key are masked.
type answer struct {
	key    string
	masked bool
}

// New returns the set of the built-in keys.
func New() *Set { return (&Set{}).With(lastWords) }

// With returns a set that has further keys.
func (m *Set) With(keys []string) *Set {
	out := &Set{last: slices.Clone(m.last)}
	out.values = jsonenc.Encoder{KeepHTML: true, Replace: out.replace}
	for _, k := range keys {
		if k = string(read(k, nil, nil).text); k != "" && !slices.Contains(out.last, k) {
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

// Has reports whether the values of key are masked. It runs for every attribute: most
// keys have been seen before, and most others contain no three letters with which a word
// starts.
func (m *Set) Has(key string) bool {
	n := len(key)
	if n == 0 {
		return false
	}
	place := &m.decided[(uint(key[0])<<4+uint(key[n-1])<<3+uint(n))%uint(len(m.decided))]
	known := place.Load()
	if known != nil && known.key == key {
		return known.masked
	}
	masked := (m.short || m.starts.in(key)) && m.look(key)
	if known == nil && n <= usualKey {
		place.Store(&answer{strings.Clone(key), masked})
	}
	return masked
}

// usualKey is the length of the longest key that is read without an allocation and
// remembered.
const usualKey = 64

// look is Has without the short cuts.
func (m *Set) look(key string) bool {
	var text [usualKey]byte
	var begins [usualKey]bool
	k := read(key, text[:0], begins[:0])
	for _, w := range strongWords {
		if bytes.Contains(k.text, []byte(w)) {
			return true
		}
	}
	n := len(bytes.TrimRightFunc(k.text, unicode.IsDigit))
	return m.masks(&k, n) || n < len(k.text) && m.masks(&k, len(k.text))
}

// masks reports whether the first n letters end in a word of the set, or in a last word
// and a qualifier.
func (m *Set) masks(k *letters, n int) bool {
	return m.endHere(k, n) || slices.ContainsFunc(qualifiers, func(q string) bool {
		return k.endIn(n, []string{q}, true) && m.lastHere(k, n-len(q))
	})
}

// endHere reports whether the first n letters end in a word of the set or in its plural.
func (m *Set) endHere(k *letters, n int) bool {
	return m.lastHere(k, n) || k.endIn(n, endWords, false) ||
		k.plural(n) && k.endIn(n-1, endWords, false) && !k.endIn(n-1, countWords, true)
}

// lastHere reports whether the first n letters end in a last word or in its plural.
func (m *Set) lastHere(k *letters, n int) bool {
	return k.endIn(n, m.last, true) || k.plural(n) && k.endIn(n-1, m.last, true)
}

// letters are those of a key in lower case, without separators.
type letters struct {
	text   []byte
	begins []bool // a word begins here
}

// read appends the letters of key to text and begins. A word begins at the start, after a
// separator, and with a capital after a small letter or a digit, or before a small letter
// as in "DBPass".
func read(key string, text []byte, begins []bool) letters {
	for i := range len(key) {
		c := key[i]
		if separates(c) {
			continue
		}
		begins = append(begins, i == 0 || separates(key[i-1]) ||
			isUpper(c) && (!isUpper(key[i-1]) || i+1 < len(key) && isLower(key[i+1])))
		if isUpper(c) {
			c += 'a' - 'A'
		}
		text = append(text, c)
	}
	return letters{text, begins}
}

// endIn reports whether the first n letters end in one of words, as a word of its own if
// it must be one.
func (k *letters) endIn(n int, words []string, own bool) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		at := n - len(w)
		return at >= 0 && string(k.text[at:n]) == w && (k.begins[at] || !own)
	})
}

// plural reports whether the first n letters end in an s.
func (k *letters) plural(n int) bool { return n > 0 && k.text[n-1] == 's' }

func isUpper(b byte) bool   { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool   { return 'a' <= b && b <= 'z' }
func separates(b byte) bool { return codes[b] == codeSeparator }
