package xbind

import (
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"
)

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
	found // the value that was looked for
)

// linearKeys is the number of names in an object up to which they are compared one by one.
const linearKeys = 16

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

	maxDepth                            int
	refuseUnknown, allowDup, allowBytes bool
	allowTrailing                       bool

	keys [][]byte // names of the open objects that no field takes

	fault fault
	path  []step // from the inside out, once a fault is found

	// target is the offset of the value to find, or -1.
	target int
	// probe stops at the first value that its own type refuses.
	probe bool
	typ   reflect.Type // of the value that was found by probe
}

// step is one part of the path to a value: a name, or an index.
type step struct {
	name  []byte
	index int
}

func (d *scanner) begin(data []byte, s *Strictness) {
	d.data, d.pos, d.depth, d.fault, d.target = data, 0, 0, faultNone, -1
	d.maxDepth = s.MaxDepth
	if d.maxDepth <= 0 {
		d.maxDepth = DefaultMaxDepth
	}
	d.refuseUnknown, d.allowDup = s.DisallowUnknownFields, s.AllowDuplicateKeys
	d.allowBytes, d.allowTrailing = s.AllowInvalidUTF8, s.AllowTrailingData
}

// reset drops every reference into the text.
func (d *scanner) reset() {
	clear(d.keys[:cap(d.keys)])
	*d = scanner{keys: d.keys[:0], path: d.path[:0]}
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
	if !d.allowBytes && !utf8.Valid(d.data[:end]) {
		d.pos = invalidAt(d.data)
		return d.fail(faultUTF8)
	}
	return true
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
		return d.fail(found)
	}
	if start <= d.target && d.target < d.pos {
		return d.fail(found)
	}
	return true
}

// consume consumes the value that begins here.
func (d *scanner) consume(p *plan) bool {
	switch c := d.data[d.pos]; c {
	case '{':
		return d.nested() && d.object(p)
	case '[':
		return d.nested() && d.list(p.element)
	case '"':
		_, _, ok := d.text()
		return ok
	case 't', 'f', 'n', '-':
		d.literal()
		return true
	default:
		if c < '0' || c > '9' {
			return d.fail(faultSyntax)
		}
		d.literal()
		return true
	}
}

// nested steps into the object or list that begins here.
func (d *scanner) nested() bool {
	if d.pos == d.target {
		return d.fail(found)
	}
	if d.depth++; d.depth > d.maxDepth {
		return d.fail(faultDepth)
	}
	d.pos++
	return true
}

// literal consumes what begins like a number, true, false or null.
func (d *scanner) literal() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ',', ']', '}', ':', '"', '[', '{', ' ', '\t', '\r', '\n':
			return
		}
		d.pos++
	}
}

// text consumes a string and returns what is between its quotes.
func (d *scanner) text() (inner []byte, escaped, ok bool) {
	d.pos++
	start := d.pos
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case '"':
			d.pos++
			return d.data[start : d.pos-1], escaped, true
		case '\\':
			escaped = true
			if !d.escape() {
				return nil, escaped, false
			}
		default:
			d.pos++
		}
	}
	return nil, escaped, d.fail(faultSyntax)
}

// escape consumes a backslash and what belongs to it, and refuses a lone surrogate.
func (d *scanner) escape() bool {
	at := d.pos
	if at+1 >= len(d.data) {
		return d.fail(faultSyntax)
	}
	d.pos += 2
	if d.data[at+1] != 'u' {
		return true
	}
	r, ok := hex4(d.data[d.pos:])
	if !ok {
		return d.fail(faultSyntax)
	}
	d.pos += 4
	if r < 0xd800 || r > 0xdfff || d.allowBytes {
		return true
	}
	if r < 0xdc00 && isLowSurrogate(d.data[d.pos:]) {
		d.pos += 6
		return true
	}
	d.pos = at
	return d.fail(faultUTF8)
}

// isLowSurrogate reports whether b begins with an escape from \udc00 to \udfff.
func isLowSurrogate(b []byte) bool {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return false
	}
	r, ok := hex4(b[2:])
	return ok && r >= 0xdc00 && r <= 0xdfff
}

func hex4(b []byte) (uint64, bool) {
	if len(b) < 4 {
		return 0, false
	}
	r, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return r, err == nil
}

func (d *scanner) list(p *plan) bool {
	defer func() { d.depth-- }()
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
	defer func(open int) {
		d.depth--
		d.keys = d.keys[:open]
	}(len(d.keys))
	if d.take('}') {
		return true
	}
	names := members{base: len(d.keys)}
	for {
		if d.space(); d.pos >= len(d.data) || d.data[d.pos] != '"' {
			return d.fail(faultSyntax)
		}
		name, ok := d.name()
		if !ok {
			return false
		}
		child, f := d.member(p, &names, name)
		if f != faultNone {
			d.fault = f
			return d.within(step{name: name})
		}
		if !d.take(':') {
			return d.fail(faultSyntax)
		}
		if !d.value(child) {
			return d.within(step{name: name})
		}
		if d.take('}') {
			return true
		}
		if !d.take(',') {
			return d.fail(faultSyntax)
		}
	}
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
