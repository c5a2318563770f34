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

// maxDepth is how deep objects and lists of a body may nest. The message textDepth names
// it.
const maxDepth = 100

// scanner walks over a JSON text along the plan of the type that it will fill. It finds
// what encoding/json lets pass (TestRefusedBodies lists it): names that occur twice,
// unknown members with their path, bytes that are no UTF-8, nesting. Malformed text ends
// the walk and is no problem of a scanner: encoding/json reports it.
//
// It allocates nothing for an object that fills a struct, unless a name is escaped.
type scanner struct {
	data   []byte
	pos    int
	depth  int
	strict Strictness

	names [][]byte // of the members of the open objects

	problem phrase.Phrase // at which the walk stopped
	tag     string        // of a problem with one field
	path    string        // to that field

	// probe stops at the first value that its own type refuses, which has the type typ.
	probe bool
	typ   reflect.Type
}

// begin makes the scanner ready for a text.
func (d *scanner) begin(data []byte, s *Strictness) {
	*d = scanner{data: data, strict: *s, names: d.names[:0]}
}

// run scans one value and what follows it. Without a problem pos is the end of the value.
func (d *scanner) run(p *plan) bool {
	if !d.value(p) {
		return false
	}
	end := d.pos
	if d.space(); d.pos < len(d.data) && !d.strict.AllowTrailingData {
		return d.fail(textTrailing, "")
	}
	d.pos = end
	if at := invalidAt(d.data[:end]); at >= 0 {
		d.pos = at
		return d.fail(textUTF8, "")
	}
	return true
}

// invalidAt returns where a JSON text has a byte that is not UTF-8, or the escape of a
// surrogate without its other half, which is no character either. It returns -1 if there
// is none.
func invalidAt(text []byte) int {
	if utf8.Valid(text) && !bytes.Contains(text, []byte(`\u`)) {
		return -1
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		switch half := unescaped(text[at:]); {
		case r == utf8.RuneError && size == 1: // U+FFFD itself has more bytes
			return at
		case r != '\\':
		case !utf16.IsSurrogate(half):
			size = 2 // a backslash that is escaped begins nothing
		case utf16.DecodeRune(half, unescaped(text[at+escapeLength:])) == utf8.RuneError:
			return at
		default:
			size = 2 * escapeLength
		}
		at += size
	}
	return -1
}

// escapeLength is the length of an escape such as \u00e9.
const escapeLength = 6

// unescaped returns what an escape with which text begins stands for, or -1.
func unescaped(text []byte) rune {
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

// within puts the name of a member or an index before the path of a problem.
func (d *scanner) within(step string) bool {
	if d.path != "" && d.path[0] != '[' {
		step += "."
	}
	d.path = step + d.path
	return false
}

// stop ends the walk over malformed text.
func (d *scanner) stop() bool {
	d.pos = len(d.data)
	return true
}

func (d *scanner) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

// next returns the byte after white space, 0 at the end.
func (d *scanner) next() byte {
	if d.space(); d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

// take consumes c after white space.
func (d *scanner) take(c byte) bool {
	if d.next() != c {
		return false
	}
	d.pos++
	return true
}

func (d *scanner) value(p *plan) bool {
	ok, first := true, d.next()
	start := d.pos
	switch first {
	case '{':
		ok = d.object(p)
	case '[':
		ok = d.nested(']', func(i int) bool {
			return d.value(p.element) || d.within("["+strconv.Itoa(i)+"]")
		})
	case '"':
		d.text()
	default:
		d.literal(first)
	}
	if ok && d.probe && p.refuses(d.data[start:d.pos]) {
		d.typ = p.typ
		return false
	}
	return ok
}

// literal consumes what begins like a number, true, false or null.
func (d *scanner) literal(first byte) {
	if strings.IndexByte("-0123456789tfn", first) < 0 {
		d.stop()
	}
	for ; d.pos < len(d.data); d.pos++ {
		switch d.data[d.pos] {
		case ',', ']', '}', ':', '"', '[', '{', ' ', '\t', '\r', '\n':
			return
		}
	}
}

// text consumes a string and returns what is between its quotes, or nil if it has no end.
func (d *scanner) text() (inner []byte, escaped bool) {
	rest := d.data[d.pos+1:]
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '"':
			d.pos += i + 2
			return rest[:i], escaped
		case '\\':
			escaped = true
			i++ // what follows ends no string
		}
	}
	d.stop()
	return nil, false
}

// nested consumes the object or list that begins here and ends with a byte; inner
// consumes each member or element.
func (d *scanner) nested(end byte, inner func(i int) bool) bool {
	if d.depth++; d.depth > maxDepth {
		return d.fail(textDepth, "")
	}
	d.pos++
	for i := 0; !d.take(end); i++ {
		if i > 0 && !d.take(',') {
			return d.stop()
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

// member consumes a member of an object. Its name is that of the field that it fills.
func (d *scanner) member(p *plan) bool {
	if d.next() != '"' {
		return d.stop()
	}
	name := d.name()
	if name == nil {
		return d.stop()
	}
	child, known := p.members, !p.closed
	if f := p.field(name); f != nil {
		name, child, known = f.name, f.plan, true
	}
	if !known && d.strict.DisallowUnknownFields {
		return d.fail(textUnknown, "unknown") || d.within(phrase.Shown(string(name)))
	}
	d.names = append(d.names, name)
	d.take(':')
	return d.value(child) || d.within(phrase.Shown(string(name)))
}

// unique reports whether no name of an object occurs twice. It changes the order of the
// names.
func (d *scanner) unique(names [][]byte) bool {
	slices.SortFunc(names, bytes.Compare)
	for i := 1; i < len(names); i++ {
		if bytes.Equal(names[i-1], names[i]) {
			return d.fail(textDuplicate, "duplicate") || d.within(phrase.Shown(string(names[i])))
		}
	}
	return true
}

// name consumes the name of a member and returns it unescaped, or nil if it is malformed.
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
