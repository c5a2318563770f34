// Package masking knows which values of a log must not be shown, by their keys.
package masking

import (
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// strongWords mask every key that holds one of them anywhere ("passw" is password and passwd).
var strongWords = []string{
	"passw", "passphrase", "secret", "credential", "authorization", "cookie", "privatekey",
}

// endWords mask every key that ends in one of them, or in its plural.
var endWords = []string{
	"password", "passwd", "pwd", "secret", "cookie", "token", "apikey", "accesskey", "signingkey",
	"encryptionkey", "sessionid", "connectionstring",
}

// countWords stand before "tokens" where those are counted, as language models do.
var countWords = []string{
	"max", "min", "total", "num", "used", "remaining", "prompt", "completion", "input", "output", "cached", "reasoning",
}

// lastWords mask every key whose last word is one of them, or its plural, the way AddMaskedKeys does:
// "pin" masks "card_pin" and "cardPin", not "spin".
var lastWords = []string{
	"jwt", "otp", "cvv", "cvc", "dsn", "bearer", "pass", "passcode", "pin", "pincode",
	"cardnumber", "cardno", "creditcard", "securitycode",
}

// qualifiers may follow a last word, as in "pin_hash" and "otpCode".
var qualifiers = []string{"code", "codes", "hash", "old", "new", "again", "confirm"}

// qualifiersByEnd holds the qualifiers that end in a letter, by its code.
var qualifiersByEnd = func() (set [32][]string) {
	for _, q := range qualifiers {
		c := codes[q[len(q)-1]]
		set[c] = append(set[c], q)
	}
	return set
}()

// containsFrom is the length from which a key may hold a strong word with something on both sides.
const containsFrom = 10

// separators stand between the words of a key; digits may follow the last one too, as in "token_2".
const (
	separators = "_-. :/"
	digits     = "0123456789"
)

// Set knows the keys whose values are masked. It does not change.
type Set struct {
	last   []string
	starts triples        // the first three letters of the strong words, and of the line's own keys
	ends   triples        // the last three of every other
	byEnd  [32][]maskWord // the words that end in a letter, by its code
}

// maskWord is a word that masks the keys that end in it.
type maskWord struct {
	text    string
	whole   bool // it must be a word of its own there
	counted bool // it may be a number of what it names
}

// Masked is shown in the place of a masked value.
const Masked = "***"

// New returns the set of the built-in keys and keys.
func New(keys []string) *Set { return (&Set{}).With(slices.Concat(lastWords, keys)) }

// With returns a set that has further keys.
func (m *Set) With(keys []string) *Set {
	out := &Set{last: slices.Clone(m.last)}
	for _, k := range keys {
		if k = normal(k); k != "" && !slices.Contains(out.last, k) {
			out.last = append(out.last, k)
		}
	}
	for _, w := range strongWords {
		out.starts.add(w[0], w[1], w[2])
	}
	for _, w := range endWords {
		out.addEnd(maskWord{text: w})
		out.addEnd(maskWord{text: w + "s", counted: w == "token"})
	}
	for _, w := range out.last {
		out.addEnd(maskWord{text: w, whole: true})
		if len(w) > 1 && !strings.HasSuffix(w, "s") {
			out.addEnd(maskWord{text: w + "s", whole: true})
		}
	}
	for _, q := range qualifiers {
		n := len(q)
		out.ends.add(q[n-2], q[n-1], q[n-3])
	}
	for _, k := range jsonline.Head {
		out.starts.add(k[0], k[1], k[2])
	}
	for c := range 1 << 5 { // where the letters that count are elsewhere, has must look
		out.starts[codeJoin<<5|c] = all
		out.ends[codeJoin<<5|c], out.ends[c<<5|codeJoin] = all, all
	}
	return out
}

func (m *Set) addEnd(w maskWord) {
	n := len(w.text)
	if n < 2 {
		return // a key of one letter is masked whole
	}
	a, b := w.text[n-2], w.text[n-1]
	m.byEnd[codes[b]] = append(m.byEnd[codes[b]], w)
	if n == 2 {
		m.ends[pair(a, b)] = all
		return
	}
	m.ends.add(a, b, w.text[n-3])
	m.ends[pair(a, b)] |= 1 << codeJoin // "session_id"
}

// normal returns a key in lower case without separators.
func normal(key string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(separators, r) {
			return -1
		}
		return r
	}, strings.ToLower(key))
}

// Has reports whether the values of key are masked.
func (m *Set) Has(key string) bool { return m.Special(key) && m.Look(key) }

// Special reports whether key deserves a look: it may be masked, or one of the line's own. It runs for
// every attribute, and for nearly every key six of its letters say no.
func (m *Set) Special(key string) bool {
	n := len(key)
	return n < 3 || n >= containsFrom ||
		m.starts.has(key[0], key[1], key[2]) || m.ends.has(key[n-2], key[n-1], key[n-3])
}

// Look is Has without the short cut.
func (m *Set) Look(key string) bool {
	if n := len(key); n < 3 {
		return slices.ContainsFunc(m.last, func(w string) bool { return len(w) == n && strings.EqualFold(w, key) })
	}
	for i := 2; i < len(key); i++ {
		if m.starts.has(key[i-2], key[i-1], key[i]) && startsStrong(key[i-2:]) {
			return true
		}
	}
	if m.endsHere(key) || m.isQualified(key) {
		return true
	}
	if codes[key[len(key)-1]] != codeJoin {
		return false
	}
	key = strings.TrimRight(key, separators+digits)
	return key != "" && (m.endsHere(key) || m.isQualified(key))
}

// isQualified reports whether key ends in a whole word of the set and a qualifier.
func (m *Set) isQualified(key string) bool {
	for _, q := range qualifiersByEnd[codes[key[len(key)-1]]] {
		if at, ok := cutEnd(key, q); ok && at > 0 && isWordStart(key, at) {
			return m.endsWhole(key[:at])
		}
	}
	return false
}

// endsWhole reports whether key ends in a whole word of the set, before separators.
func (m *Set) endsWhole(key string) bool {
	end := len(key)
	for end > 0 && separates[key[end-1]] {
		end--
	}
	if end == 0 {
		return false
	}
	for _, w := range m.byEnd[codes[key[end-1]]] {
		if at, ok := cutEnd(key[:end], w.text); ok && w.whole && isWordStart(key, at) {
			return true
		}
	}
	return false
}

func startsStrong(key string) bool {
	for _, w := range strongWords {
		if startsWith(key, w) {
			return true
		}
	}
	return false
}

// startsWith reports whether key begins with word, whatever its case and separators.
func startsWith(key, word string) bool {
	i := 0
	for w := range len(word) {
		for i < len(key) && separates[key[i]] {
			i++
		}
		if i == len(key) || lower(key[i]) != word[w] {
			return false
		}
		i++
	}
	return true
}

// endsHere reports whether key ends in a word of the set.
func (m *Set) endsHere(key string) bool {
	for _, w := range m.byEnd[codes[key[len(key)-1]]] {
		at, ok := cutEnd(key, w.text)
		if ok && (!w.whole || isWordStart(key, at)) && (!w.counted || !counts(key[:at])) {
			return true
		}
	}
	return false
}

// counts reports whether the beginning of a key ends in a word that makes the rest a number.
func counts(key string) bool {
	for _, w := range countWords {
		if at, ok := cutEnd(key, w); ok && isWordStart(key, at) {
			return true
		}
	}
	return false
}

// cutEnd reports whether key ends in word, whatever its case and separators, and where that begins.
func cutEnd(key, word string) (at int, ok bool) {
	i := len(key) - 1
	for w := len(word) - 1; w >= 0; w-- {
		for i >= 0 && separates[key[i]] {
			i--
		}
		if i < 0 || lower(key[i]) != word[w] {
			return 0, false
		}
		i--
	}
	return i + 1, true
}

// isWordStart reports whether a word of key begins at index at: at the start, after a separator, or
// with a capital after a small letter or a digit, or before a small letter as in "DBPass".
func isWordStart(key string, at int) bool {
	return at == 0 || separates[key[at-1]] ||
		isUpper(key[at]) && (!isUpper(key[at-1]) || at+1 < len(key) && isLower(key[at+1]))
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

func lower(b byte) byte {
	if isUpper(b) {
		return b | 0x20
	}
	return b
}

// triples is a set of three letters whose case does not count: for each pair, the third ones.
type triples [1 << 10]uint32

// all stands for every third letter.
const all = ^uint32(0)

func (t *triples) add(a, b, c byte)      { t[pair(a, b)] |= 1 << codes[c] }
func (t *triples) has(a, b, c byte) bool { return t[pair(a, b)]>>(codes[c]&31)&1 != 0 }

func pair(a, b byte) int { return int(codes[a]&31)<<5 | int(codes[b]&31) }

// codes gives each letter a number below 32, whatever its case.
var codes = func() (set [256]uint8) {
	for c := range set {
		set[c] = codeOther
	}
	for c := range byte(26) {
		set['a'+c], set['A'+c] = c, c
	}
	for _, c := range []byte(separators + digits) {
		set[c] = codeJoin
	}
	return set
}()

const (
	codeJoin  = 26 // separators and digits
	codeOther = 27
)

var separates = func() (set [256]bool) {
	for _, b := range []byte(separators) {
		set[b] = true
	}
	return set
}()
