// Package masking knows which values of a log must not be shown, by their keys.
package masking

import (
	"bytes"
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
	byEnd  [256][]maskWord // the words that end in a letter
	strong triples         // the first three letters of the strong words
	first  triples         // these, and those of the line's own keys
	ends   triples         // the last three of every other word
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
		if k = string(read(k, nil, nil).text); k != "" && !slices.Contains(out.last, k) {
			out.last = append(out.last, k)
		}
	}
	for _, w := range strongWords {
		out.strong.add(w[0], w[1], w[2])
		out.strong[pair(w[0], w[1])] |= 1 << codeJoin // "se_cret"
		out.strong[pair(w[0], '_')] = all
	}
	out.first = out.strong
	for _, k := range jsonline.Head {
		out.first.add(k[0], k[1], k[2])
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
		out.ends[pair(q[n-2], q[n-1])] |= 1 << codeJoin
	}
	for c := range 1 << 5 { // where the letters that count are elsewhere, Look must look
		out.first[codeJoin<<5|c] = all
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
	m.byEnd[b] = append(m.byEnd[b], w)
	if n == 2 {
		m.ends[pair(a, b)] = all
		return
	}
	m.ends.add(a, b, w.text[n-3])
	m.ends[pair(a, b)] |= 1 << codeJoin // "session_id"
}

// Has reports whether the values of key are masked.
func (m *Set) Has(key string) bool { return m.Special(key) && m.Look(key) }

// Special reports whether key deserves a look: it may be masked, or one of the line's own. It runs for
// every attribute, and for nearly every key a few of its letters say no.
func (m *Set) Special(key string) bool {
	n := len(key)
	return n < 3 || m.first.has(key[0], key[1], key[2]) || m.ends.has(key[n-2], key[n-1], key[n-3]) ||
		n >= containsFrom && m.mayContain(key)
}

// mayContain reports whether a strong word may be inside of key.
func (m *Set) mayContain(key string) bool {
	for i := 3; i < len(key); i++ {
		if m.strong.has(key[i-2], key[i-1], key[i]) {
			return true
		}
	}
	return false
}

// Look is Has without the short cut.
func (m *Set) Look(key string) bool {
	if n := len(key); n < 3 {
		return slices.ContainsFunc(m.last, func(w string) bool { return len(w) == n && strings.EqualFold(w, key) })
	}
	var text [64]byte // enough for most keys
	var begins [64]bool
	k := read(key, text[:0], begins[:0])
	for i := range max(len(k.text)-2, 0) {
		if m.strong.has(k.text[i], k.text[i+1], k.text[i+2]) && startsStrong(k.text[i:]) {
			return true
		}
	}
	n := len(bytes.TrimRight(k.text, digits))
	return m.masks(&k, n) || n < len(k.text) && m.masks(&k, len(k.text))
}

func startsStrong(text []byte) bool {
	return slices.ContainsFunc(strongWords, func(w string) bool {
		return len(text) >= len(w) && string(text[:len(w)]) == w
	})
}

// masks reports whether the first n letters end in a word of the set, or in a whole one and a qualifier.
func (m *Set) masks(k *letters, n int) bool {
	return m.endHere(k, n, false) || slices.ContainsFunc(qualifiers, func(q string) bool {
		at, ok := k.endIn(n, q)
		return ok && at > 0 && m.endHere(k, at, true)
	})
}

// endHere reports whether the first n letters end in a word of the set, which must be a whole one if that is asked for.
func (m *Set) endHere(k *letters, n int, whole bool) bool {
	if n == 0 {
		return false
	}
	for _, w := range m.byEnd[k.text[n-1]] {
		at, isWord := k.endIn(n, w.text)
		switch {
		case at < 0, w.whole && !isWord, whole && !w.whole, w.counted && k.count(at):
		default:
			return true
		}
	}
	return false
}

// letters are those of a key in lower case, without separators.
type letters struct {
	text   []byte
	begins []bool // a word begins here
}

// read appends the letters of key to text and begins. A word begins at the start, after a separator, and with a capital
// after a small letter or a digit, or before a small letter as in "DBPass".
func read(key string, text []byte, begins []bool) letters {
	for i := range len(key) {
		c := key[i]
		if separates(c) {
			continue
		}
		text = append(text, lower(c))
		begins = append(begins, i == 0 || separates(key[i-1]) ||
			isUpper(c) && (!isUpper(key[i-1]) || i+1 < len(key) && isLower(key[i+1])))
	}
	return letters{text, begins}
}

// endIn returns where word begins if the first n letters end in it, or -1, and whether it is a word of its own there.
func (k *letters) endIn(n int, word string) (at int, isWord bool) {
	at = n - len(word)
	if at < 0 || string(k.text[at:n]) != word {
		return -1, false
	}
	return at, k.begins[at]
}

// count reports whether the first n letters end in a word that makes the rest a number.
func (k *letters) count(n int) bool {
	return slices.ContainsFunc(countWords, func(w string) bool {
		_, isWord := k.endIn(n, w)
		return isWord
	})
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

func lower(b byte) byte {
	if isUpper(b) {
		return b | 0x20
	}
	return b
}

func separates(b byte) bool { return codes[b] == codeSeparator }

// triples is a set of three letters whose case does not count: for each pair, the third ones.
type triples [1 << 10]uint32

// all stands for every third letter.
const all = ^uint32(0)

func (t *triples) add(a, b, c byte)      { t[pair(a, b)] |= 1 << codes[c] }
func (t *triples) has(a, b, c byte) bool { return t[pair(a, b)]>>(codes[c]&31)&1 != 0 }

func pair(a, b byte) int { return int(codes[a]&31)<<5 | int(codes[b]&31) }

// codes gives each letter a number, of which five bits count, whatever its case.
var codes = func() (set [256]uint8) {
	for c := range set {
		set[c] = codeOther
	}
	for c := range byte(26) {
		set['a'+c], set['A'+c] = c, c
	}
	for _, c := range []byte(digits) {
		set[c] = codeJoin
	}
	for _, c := range []byte(separators) {
		set[c] = codeSeparator
	}
	return set
}()

const (
	codeJoin      = 26 // digits, and in five bits the separators
	codeOther     = 27
	codeSeparator = 1<<5 | codeJoin
)
