package jsontree

import "encoding/json"

// reader reads valid JSON.
type reader struct {
	text []byte
	at   int
}

// next skips white space and returns the next character.
func (r *reader) next() byte {
	for {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return c
		}
	}
}

func (r *reader) value() *Value {
	switch r.next() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return NewString(r.str())
	case 't', 'f':
		return NewLiteral(Bool, r.literal())
	case 'n':
		return NewLiteral(Null, r.literal())
	default:
		return NewLiteral(Number, r.literal())
	}
}

func (r *reader) object() *Value {
	v := NewObject()
	for r.more('}') {
		r.next()
		name := r.str()
		r.next()
		r.at++ // the colon
		v.Set(name, r.value())
	}
	return v
}

func (r *reader) array() *Value {
	v := NewArray()
	for r.more(']') {
		v.items = append(v.items, r.value())
	}
	return v
}

// more skips the opening delimiter or a comma. It skips the closing delimiter and reports
// false if no value follows.
func (r *reader) more(closing byte) bool {
	if r.next() == closing {
		r.at++
		return false
	}
	r.at++
	if r.next() == closing { // an empty array or object
		r.at++
		return false
	}
	return true
}

func (r *reader) str() string {
	start, plain := r.at, true
	for r.at++; r.text[r.at] != '"'; r.at++ {
		c := r.text[r.at]
		if c == '\\' {
			r.at++
		}
		plain = plain && c != '\\' && c < 0x80
	}
	r.at++
	if plain {
		return string(r.text[start+1 : r.at-1])
	}
	var text string
	_ = json.Unmarshal(r.text[start:r.at], &text) // valid
	return text
}

func (r *reader) literal() string {
	start := r.at
	for r.at < len(r.text) && isLiteral(r.text[r.at]) {
		r.at++
	}
	return string(r.text[start:r.at])
}

func isLiteral(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '+' || c == '-' || c == '.' || c == 'E'
}
