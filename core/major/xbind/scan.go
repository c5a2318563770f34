package xbind

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep objects and lists of a body may nest.
const maxDepth = 100

// fault is what a scanner stopped at.
type fault uint8

const (
	faultNone fault = iota
	faultSyntax
	faultDuplicate
	faultUnknown
	faultDepth
	faultUTF8
	faultTrailing
	faultType // only of a scanner that probes
)

// scanner walks over a JSON text along the plan of the type that it will fill. It finds what
// encoding/json lets pass (TestRefusedBodies lists it: names that occur twice,
// unknown members with their path, bytes that are no UTF-8, nesting); the grammar of literals is
// left to that.
//
// It allocates nothing for an object that fills a struct, unless a name is escaped.
type scanner struct {
	data  []byte
	pos   int
	depth int

	refuseUnknown, allowDuplicates, allowTrailing bool

	names [][]byte // of the members of the open objects

	fault fault
	path  []step // from the inside out, once a fault is found

	// probe stops at the first value that its own type refuses, which has the type typ.
	probe bool
	typ   reflect.Type
}

// step is one part of the path to a value: a name, or an index.
type step struct {
	name  []byte
	index int
}

// begin makes the scanner ready for a text.
func (d *scanner) begin(data []byte, s *Strictness) {
	*d = scanner{
		data: data, names: d.names[:0], path: d.path[:0],
		refuseUnknown: s.DisallowUnknownFields, allowDuplicates: s.AllowDuplicateKeys, allowTrailing: s.AllowTrailingData,
	}
}

// reset drops every reference into the text.
func (d *scanner) reset() {
	clear(d.names[:cap(d.names)])
	clear(d.path)
	d.begin(nil, &Strictness{})
}

// run scans one value and what follows it. Without a fault pos is the end of the value.
func (d *scanner) run(p *plan) bool {
	if !d.value(p) {
		return false
	}
	end := d.pos
	if d.space(); d.pos < len(d.data) && !d.allowTrailing {
		return d.fail(faultTrailing)
	}
	d.pos = end
	if at := invalidAt(d.data[:end]); at >= 0 {
		d.pos = at
		return d.fail(faultUTF8)
	}
	return true
}

// invalidAt returns where a JSON text has a byte that is not UTF-8, or the escape of a surrogate without its
// other half, which is no character either. It returns -1 if there is none.
func invalidAt(text []byte) int {
	if utf8.Valid(text) {
		return loneSurrogate(text)
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 { // U+FFFD itself has more bytes
			return at
		}
		at += n
	}
}

// loneSurrogate is invalidAt for escapes.
func loneSurrogate(text []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '\\')
		if next < 0 {
			return -1
		}
		at += next
		switch half := unescaped(text[at:]); {
		case !utf16.IsSurrogate(half):
			at = min(at+2, len(text)) // a backslash that is escaped begins nothing
		case utf16.DecodeRune(half, unescaped(text[at+escapeLength:])) == utf8.RuneError:
			return at
		default:
			at += 2 * escapeLength
		}
	}
}

// escapeLength is the length of an escape such as \u00e9.
const escapeLength = 6

// unescaped returns what an escape with which text begins stands for, or -1.
func unescaped(text []byte) rune {
	if len(text) < escapeLength || text[1] != 'u' {
		return -1
	}
	r, err := strconv.ParseUint(string(text[2:escapeLength]), 16, 16)
	if text[0] != '\\' || err != nil {
		return -1
	}
	return rune(r)
}

func (d *scanner) fail(f fault) bool {
	d.fault = f
	return false
}

// within adds a step to the path of a fault.
func (d *scanner) within(s step) bool {
	d.path = append(d.path, s)
	return false
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

// take consumes c after white space.
func (d *scanner) take(c byte) bool {
	d.space()
	if d.pos < len(d.data) && d.data[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

func (d *scanner) value(p *plan) bool {
	d.space()
	start := d.pos
	if start == len(d.data) {
		return d.fail(faultSyntax)
	}
	if !d.consume(p) {
		return false
	}
	if d.probe && p.refuses(d.data[start:d.pos]) {
		d.typ = p.typ
		return d.fail(faultType)
	}
	return true
}

// consume consumes the value that begins here.
func (d *scanner) consume(p *plan) bool {
	switch c := d.data[d.pos]; {
	case c == '{':
		return d.nested(func() bool { return d.object(p) })
	case c == '[':
		return d.nested(func() bool { return d.list(p.element) })
	case c == '"':
		_, _, ok := d.text()
		return ok
	case c == 't', c == 'f', c == 'n', c == '-', '0' <= c && c <= '9':
		d.literal()
		return true
	default:
		return d.fail(faultSyntax)
	}
}

// nested consumes the object or list that begins here.
func (d *scanner) nested(inner func() bool) bool {
	if d.depth++; d.depth > maxDepth {
		return d.fail(faultDepth)
	}
	defer func() { d.depth-- }()
	d.pos++
	return inner()
}

// literal consumes what begins like a number, true, false or null.
func (d *scanner) literal() {
	for ; d.pos < len(d.data); d.pos++ {
		switch d.data[d.pos] {
		case ',', ']', '}', ':', '"', '[', '{', ' ', '\t', '\r', '\n':
			return
		}
	}
}

// text consumes a string and returns what is between its quotes.
func (d *scanner) text() (inner []byte, escaped, ok bool) {
	d.pos++
	for start := d.pos; d.pos < len(d.data); d.pos++ {
		switch d.data[d.pos] {
		case '"':
			d.pos++
			return d.data[start : d.pos-1], escaped, true
		case '\\':
			escaped = true
			d.pos++ // what follows ends no string
		}
	}
	d.pos = len(d.data)
	return nil, escaped, d.fail(faultSyntax)
}

func (d *scanner) list(p *plan) bool {
	if d.take(']') {
		return true
	}
	for i := 0; ; i++ {
		if !d.value(p) {
			return d.within(step{index: i})
		}
		if d.take(']') {
			return true
		}
		if !d.take(',') {
			return d.fail(faultSyntax)
		}
	}
}

func (d *scanner) object(p *plan) bool {
	open := len(d.names)
	defer func() { d.names = d.names[:open] }()
	if d.take('}') {
		return true
	}
	for {
		if !d.member(p) {
			return false
		}
		if d.take('}') {
			return d.allowDuplicates || d.unique(d.names[open:])
		}
		if !d.take(',') {
			return d.fail(faultSyntax)
		}
	}
}

// member consumes a member of an object. Its name is that of the field that it fills.
func (d *scanner) member(p *plan) bool {
	if d.space(); d.pos == len(d.data) || d.data[d.pos] != '"' {
		return d.fail(faultSyntax)
	}
	name, ok := d.name()
	if !ok {
		return false
	}
	child, known := p.members, !p.closed
	if i := p.field(name); i >= 0 {
		name, child, known = p.fields[i].name, p.fields[i].plan, true
	}
	if !known && d.refuseUnknown {
		d.fault = faultUnknown
		return d.within(step{name: name})
	}
	d.names = append(d.names, name)
	if !d.take(':') {
		return d.fail(faultSyntax)
	}
	return d.value(child) || d.within(step{name: name})
}

// unique reports whether no name of an object occurs twice. It changes the order of the names.
func (d *scanner) unique(names [][]byte) bool {
	slices.SortFunc(names, bytes.Compare)
	for i := 1; i < len(names); i++ {
		if bytes.Equal(names[i-1], names[i]) {
			d.fault = faultDuplicate
			return d.within(step{name: names[i]})
		}
	}
	return true
}

// name consumes the name of a member and returns it unescaped.
func (d *scanner) name() ([]byte, bool) {
	start := d.pos
	inner, escaped, ok := d.text()
	if !ok || !escaped {
		return inner, ok
	}
	var s string
	if json.Unmarshal(d.data[start:d.pos], &s) != nil {
		return nil, d.fail(faultSyntax)
	}
	return []byte(s), true
}
