package xbind

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/internal/phrase"
)

// maxDepth is the maximum nesting depth of objects and lists in a body. The text of
// msgDepth contains it.
const maxDepth = 100

// scanner scans JSON text according to the plan of the destination type. It finds
// problems that encoding/json does not report (see TestBinder_Data_Errors): duplicate
// names, unknown members with their path, invalid UTF-8 and deep nesting. It stops at
// malformed text without setting problem, because encoding/json reports malformed text.
//
// It does not allocate for an object that fills a struct, unless a name is escaped.
type scanner struct {
	data   []byte
	pos    int
	depth  int
	strict Strictness

	names [][]byte // of the members of open objects

	problem phrase.Phrase // the first problem
	tag     string        // validation tag if the problem concerns one field
	path    string        // path of that field

	// probe stops the scan at the first value that its type rejects, and sets typ.
	probe bool
	typ   reflect.Type
}

func (d *scanner) reset(data []byte, s *Strictness) {
	*d = scanner{data: data, strict: *s, names: d.names[:0]}
}

// run scans one value and the data after it. It returns false if it finds a problem.
// Otherwise pos is the end of the value.
func (d *scanner) run(p *plan) bool {
	if !d.value(p) {
		return false
	}
	end := d.pos
	if d.skipSpace(); d.pos < len(d.data) && !d.strict.AllowTrailingData {
		return d.fail(msgTrailing, "")
	}
	d.pos = end
	if at := invalidIndex(d.data[:end]); at >= 0 {
		d.pos = at
		return d.fail(msgUTF8, "")
	}
	return true
}

// invalidIndex returns the position of the first byte that is not UTF-8, or of the first
// escape of an unpaired surrogate. It returns -1 if the text is valid.
func invalidIndex(text []byte) int {
	if utf8.Valid(text) && !bytes.Contains(text, []byte(`\u`)) {
		return -1
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		switch half := unescape(text[at:]); {
		case r == utf8.RuneError && size == 1: // the encoding of U+FFFD itself is longer
			return at
		case r != '\\':
		case !utf16.IsSurrogate(half):
			size = 2 // skip an escaped backslash
		case utf16.DecodeRune(half, unescape(text[at+escapeLength:])) == utf8.RuneError:
			return at
		default:
			size = 2 * escapeLength
		}
		at += size
	}
	return -1
}

const escapeLength = 6

// unescape decodes the escape at the start of text. It returns -1 if there is no such
// escape.
func unescape(text []byte) rune {
	if len(text) < escapeLength || string(text[:2]) != `\u` {
		return -1
	}
	r, err := strconv.ParseUint(string(text[2:escapeLength]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}

func (d *scanner) fail(problem phrase.Phrase, tag string) bool {
	d.problem, d.tag = problem, tag
	return false
}

// prependPath adds the name of a member or an index to the start of the path. It returns
// false.
func (d *scanner) prependPath(step string) bool {
	if d.path != "" && d.path[0] != '[' {
		step += "."
	}
	d.path = step + d.path
	return false
}

func (d *scanner) skipRest() bool {
	d.pos = len(d.data)
	return true
}

func (d *scanner) skipSpace() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (d *scanner) peek() byte {
	if d.skipSpace(); d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

// consume skips white space and then the byte c. It returns false if the next byte is not
// c.
func (d *scanner) consume(c byte) bool {
	if d.peek() != c {
		return false
	}
	d.pos++
	return true
}

func (d *scanner) value(p *plan) bool {
	ok, first := true, d.peek()
	start := d.pos
	switch first {
	case '{':
		ok = d.object(p)
	case '[':
		ok = d.nested(']', func(i int) bool {
			return d.value(p.element) || d.prependPath("["+strconv.Itoa(i)+"]")
		})
	case '"':
		d.text()
	default:
		d.literal(first)
	}
	if ok && d.probe && p.rejects(d.data[start:d.pos]) {
		d.typ = p.typ
		return false
	}
	return ok
}

// literal consumes a number, true, false or null.
func (d *scanner) literal(first byte) {
	if strings.IndexByte("-0123456789tfn", first) < 0 {
		d.skipRest()
	}
	for ; d.pos < len(d.data); d.pos++ {
		switch d.data[d.pos] {
		case ',', ']', '}', ':', '"', '[', '{', ' ', '\t', '\r', '\n':
			return
		}
	}
}

// text consumes a string and returns the bytes between its quotes, or nil if it is
// unterminated.
func (d *scanner) text() (inner []byte, escaped bool) {
	rest := d.data[d.pos+1:]
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '"':
			d.pos += i + 2
			return rest[:i], escaped
		case '\\':
			escaped = true
			i++ // skip the escaped character
		}
	}
	d.skipRest()
	return nil, false
}

// nested consumes the object or list at pos up to its end byte. It calls inner for each
// member or element.
func (d *scanner) nested(end byte, inner func(i int) bool) bool {
	if d.depth++; d.depth > maxDepth {
		return d.fail(msgDepth, "")
	}
	d.pos++
	for i := 0; !d.consume(end); i++ {
		if i > 0 && !d.consume(',') {
			return d.skipRest()
		}
		if !inner(i) {
			return false
		}
	}
	d.depth--
	return true
}

func (d *scanner) object(p *plan) bool {
	open := len(d.names)
	ok := d.nested('}', func(int) bool { return d.member(p) }) &&
		(d.strict.AllowDuplicateKeys || d.unique(d.names[open:]))
	d.names = d.names[:open]
	return ok
}

// member consumes a member of an object. It records the name of the field that the member
// fills.
func (d *scanner) member(p *plan) bool {
	if d.peek() != '"' {
		return d.skipRest()
	}
	start := d.pos
	name := d.name()
	if name == nil {
		return d.skipRest()
	}
	child, known := p.members, !p.isStruct
	f := p.field(name)
	switch {
	case f == nil:
	case f.exclude:
		name = slices.Clone(name)
		d.erase(start)
	default:
		name, child, known = f.name, f.plan, true
	}
	if !known && d.strict.DisallowUnknownFields {
		return d.fail(msgUnknown, "unknown") || d.prependPath(phrase.Shown(string(name)))
	}
	d.names = append(d.names, name)
	d.consume(':')
	return d.value(child) || d.prependPath(phrase.Shown(string(name)))
}

// erase overwrites the name between start and pos, so that encoding/json ignores the
// member.
func (d *scanner) erase(start int) {
	for i := start + 1; i < d.pos-1; i++ {
		d.data[i] = ' '
	}
}

// unique reports whether the names are unique. It sorts them.
func (d *scanner) unique(names [][]byte) bool {
	slices.SortFunc(names, bytes.Compare)
	for i := 1; i < len(names); i++ {
		if bytes.Equal(names[i-1], names[i]) {
			return d.fail(msgDuplicate, "duplicate") ||
				d.prependPath(phrase.Shown(string(names[i])))
		}
	}
	return true
}

// name consumes the name of a member and returns it unescaped. It returns nil if the name
// is malformed.
func (d *scanner) name() []byte {
	start := d.pos
	inner, escaped := d.text()
	if !escaped {
		return inner
	}
	var s string
	if json.Unmarshal(d.data[start:d.pos], &s) != nil {
		return nil
	}
	return []byte(s)
}
