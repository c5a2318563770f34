package search

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// A kind says what a token is of the word that it was read from.
type kind uint8

const (
	plain     kind = iota // a word of one piece
	whole                 // a word of several pieces, written together: nosqldriver of NOSQL_DRIVER
	component             // a piece between dots, underscores or hyphens: withautomigrate of xoptdatabase.WithAutoMigrate
	part                  // a piece between changes of case: migrate of WithAutoMigrate
	ideograph             // two neighbours in a text without blanks, or one that stands alone
)

// A token is what the index knows a word by. All tokens of a word have its position; of a text without blanks, each pair has
// the next one.
type token struct {
	term     []byte // folded; valid until the next token
	kind     kind
	position int
	start    int // of the word in the text, in bytes
	end      int
}

// maxTerm bounds a token in bytes, so that a long piece of base64 does not fill the index.
const maxTerm = 64

// A tokenizer reads one text after the other. It keeps its buffers and is not safe for concurrent use.
type tokenizer struct {
	emit     func(token)
	position int

	text   string
	pieces []span
	joined []byte // the last word, folded, with all its letters
	buffer []byte
	other  []byte
}

type span struct{ start, end int }

// A class is what a rune is to the tokenizer.
type class uint8

const (
	other class = iota
	lower       // letters without case too
	upper
	digit
	mark       // belongs to the letter before it
	dense      // of a script that writes without blanks
	connector  // may stand within an identifier
	apostrophe // may stand within a word
)

// read sends the tokens of a text to emit and returns the number of positions that they take. Positions begin at first.
func (t *tokenizer) read(text string, first int) int {
	t.text, t.position = text, first
	for at := 0; at < len(text); {
		switch c, size := classAt(text, at); c {
		case lower, upper, digit:
			at = t.word(at)
		case dense:
			at = t.run(at)
		default:
			at += size
		}
	}
	return t.position - first
}

// word reads a word with all of its pieces and returns where it ends.
func (t *tokenizer) word(start int) int {
	t.pieces = t.pieces[:0]
	begin, at, numeric := start, start, true
	for at < len(t.text) {
		c, size := classAt(t.text, at)
		if c == connector || c == apostrophe {
			next, _ := classAt(t.text, at+size)
			if next != lower && next != upper && next != digit {
				break
			}
			if c == connector {
				t.pieces = append(t.pieces, span{begin, at})
				begin = at + size
			}
			at += size
			continue
		}
		if c == other || c == dense {
			break
		}
		numeric = numeric && c == digit
		at += size
	}
	t.pieces = append(t.pieces, span{begin, at})
	if numeric {
		t.joined = append(t.joined[:0], t.text[start:at]...)
		t.send(t.joined, plain, start, at)
	} else {
		t.identifier(start, at)
	}
	t.position++
	return at
}

// identifier sends a word that has a letter: the whole, its components, their parts.
func (t *tokenizer) identifier(start, end int) {
	several := len(t.pieces) > 1
	t.joined = t.joined[:0]
	for _, p := range t.pieces {
		t.buffer = t.fold(t.buffer[:0], t.text[p.start:p.end])
		t.joined = append(t.joined, t.buffer...)
		first := span{p.start, camel(t.text, p)}
		if k := singleKind(several, first.end < p.end); k != plain && !long(t.buffer) {
			// A lone letter says nothing about the identifier that it is a piece of.
		} else {
			t.sendWord(t.buffer, k, start, end)
		}
		if first.end < p.end {
			t.parts(first, p.end, start, end)
		} else if subject := subjectOf(t.buffer); subject != nil {
			t.sendWord(subject, part, start, end)
		}
	}
	if several {
		t.sendWord(t.joined, whole, start, end)
	}
}

// singleKind is the kind of a piece of a word.
func singleKind(several, hasParts bool) kind {
	switch {
	case several:
		return component
	case hasParts:
		return whole
	default:
		return plain
	}
}

// parts sends the pieces between changes of case.
func (t *tokenizer) parts(p span, last, start, end int) {
	for {
		t.buffer = t.fold(t.buffer[:0], t.text[p.start:p.end])
		if long(t.buffer) {
			t.sendWord(t.buffer, part, start, end)
		}
		if p.end >= last {
			return
		}
		p.start = p.end
		p.end = camel(t.text, span{p.start, last})
	}
}

// subjectOf returns the subject in the name of a package: db in xdb, cron in cronx. It returns nil
// for other words. English words that end in x have a vowel before it.
func subjectOf(word []byte) []byte {
	last := len(word) - 1
	switch {
	case last > 1 && word[0] == 'x' && word[1] >= 'a' && word[1] <= 'z':
		return word[1:]
	case last > 3 && word[last] == 'x' && !bytes.ContainsRune([]byte("aeiou"), rune(word[last-1])):
		return word[:last]
	default:
		return nil
	}
}

// long tells whether a piece has more than one character.
func long(piece []byte) bool {
	_, size := utf8.DecodeRune(piece)
	return len(piece) > size
}

// run reads characters of a script without blanks and returns where they end.
func (t *tokenizer) run(start int) int {
	before, at := start, start
	for at < len(t.text) {
		c, size := classAt(t.text, at)
		if c == mark {
			at += size
			continue
		}
		if c != dense {
			break
		}
		if at > start {
			t.pair(before, at+size)
			before = at
		}
		at += size
	}
	if before == start {
		t.pair(start, at)
	}
	return at
}

func (t *tokenizer) pair(start, end int) {
	t.buffer = composed(t.buffer[:0], t.text[start:end])
	t.send(t.buffer, ideograph, start, end)
	t.position++
}

// sendWord sends a word as one of its kind, so that caches are found as cache.
func (t *tokenizer) sendWord(term []byte, k kind, start, end int) {
	n, y := singular(term)
	if term = term[:n]; y {
		t.other = append(append(t.other[:0], term...), 'y')
		term = t.other
	}
	t.send(term, k, start, end)
}

func (t *tokenizer) send(term []byte, k kind, start, end int) {
	if len(term) == 0 {
		return
	}
	t.emit(token{term: clip(term), kind: k, position: t.position, start: start, end: end})
}

// clip shortens a term to its bound, between characters.
func clip(term []byte) []byte {
	if len(term) <= maxTerm {
		return term
	}
	n := maxTerm
	for n > 0 && !utf8.RuneStart(term[n]) {
		n--
	}
	return term[:n]
}

// camel returns where the first part of a piece ends: before a capital after a small letter or a digit, or before the last
// capital of several when a small letter follows (HTTP|Server). The plural of an acronym (IDs) is one part.
func camel(text string, p span) int {
	before, beforeThat := other, other
	for at := p.start; at < p.end; {
		c, size := classAt(text, at)
		switch {
		case c == upper && (before == lower || before == digit):
			return at
		case c == lower && before == upper && beforeThat == upper && !pluralOf(text, at, p.end):
			return lastRune(text, at)
		}
		if c != mark && c != apostrophe {
			before, beforeThat = c, before
		}
		at += size
	}
	return p.end
}

// pluralOf tells whether all that is left is the s of an acronym's plural.
func pluralOf(text string, at, end int) bool { return text[at:end] == "s" }

// lastRune is where the character before at begins.
func lastRune(text string, at int) int {
	for at--; at > 0; at-- {
		if !utf8.RuneStart(text[at]) {
			continue
		}
		if c, _ := classAt(text, at); c != mark {
			break
		}
	}
	return at
}

// classAt returns the class of the character at a byte, and its length; other for the end of the text.
func classAt(text string, at int) (class, int) {
	if at >= len(text) {
		return other, 0
	}
	if b := text[at]; b < utf8.RuneSelf {
		return asciiClass(b), 1
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	return runeClass(r), size
}

func asciiClass(b byte) class {
	switch {
	case b >= 'a' && b <= 'z':
		return lower
	case b >= 'A' && b <= 'Z':
		return upper
	case b >= '0' && b <= '9':
		return digit
	case b == '_' || b == '-' || b == '.':
		return connector
	case b == '\'':
		return apostrophe
	default:
		return other
	}
}

func runeClass(r rune) class {
	switch {
	case isDense(r):
		return dense
	case r == '’':
		return apostrophe
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLetter(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	case unicode.Is(unicode.Mn, r):
		return mark
	default:
		return other
	}
}

// prolonged is the sound mark of Katakana, which Unicode counts to no script.
const prolonged = 'ー'

func isDense(r rune) bool {
	return r >= 0x1100 && (r == prolonged || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul))
}
