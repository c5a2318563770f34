// Package jsontree reads JSON documents. Unlike encoding/json with maps, it preserves the
// order of members and the literals of numbers.
package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of a value.
type Kind uint8

// Kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is a JSON value. The methods of a nil Value return zero values, so that members
// of members can be read without checks. A Value is safe for concurrent use.
type Value struct {
	kind    Kind
	text    string // content of a string, or the literal of another scalar
	items   []*Value
	members []Member
	index   map[string]int // of members, or nil for few members
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value *Value
}

// Parse reads a document.
func Parse(text []byte) (*Value, error) {
	// Unmarshal reports all syntax errors and limits the depth, so that reader can rely
	// on valid text. This is ten times faster than Decoder.Token.
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("jsontree: %w", err)
	}
	r := reader{text: text}
	return r.value(), nil
}

// NewString returns a string.
func NewString(text string) *Value { return &Value{kind: String, text: text} }

// NewLiteral returns the number, boolean or null of a literal.
func NewLiteral(kind Kind, literal string) *Value { return &Value{kind: kind, text: literal} }

// NewArray returns an array.
func NewArray(items ...*Value) *Value { return &Value{kind: Array, items: items} }

// NewObject returns an empty object.
func NewObject() *Value { return &Value{kind: Object} }

// fewMembers is the number of members up to which a search is faster than a map.
const fewMembers = 12

// Set adds or replaces a member of an object. It must not be called concurrently with
// other methods.
func (v *Value) Set(name string, value *Value) {
	if i := v.find(name); i >= 0 {
		v.members[i].Value = value
		return
	}
	v.members = append(v.members, Member{name, value})
	switch n := len(v.members); {
	case n == fewMembers:
		v.index = make(map[string]int, n)
		for i, member := range v.members {
			v.index[member.Name] = i
		}
	case n > fewMembers:
		v.index[name] = n - 1
	}
}

// find returns the index of a member, or -1.
func (v *Value) find(name string) int {
	if v.index != nil {
		if i, ok := v.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(v.members, func(m Member) bool { return m.Name == name })
}

// Kind returns the kind. The kind of a nil Value is Null.
func (v *Value) Kind() Kind {
	if v == nil {
		return Null
	}
	return v.kind
}

// Get returns the member at the path, or nil.
func (v *Value) Get(path ...string) *Value {
	for _, name := range path {
		if v == nil {
			return nil
		}
		i := v.find(name)
		if i < 0 {
			return nil
		}
		v = v.members[i].Value
	}
	return v
}

// Members returns the members of an object.
func (v *Value) Members() []Member {
	if v == nil {
		return nil
	}
	return v.members
}

// Items returns the items of an array.
func (v *Value) Items() []*Value {
	if v == nil {
		return nil
	}
	return v.items
}

// Str returns the content of a string, or "".
func (v *Value) Str() string {
	if v.Kind() != String {
		return ""
	}
	return v.text
}

// True reports whether v is true.
func (v *Value) True() bool { return v.Kind() == Bool && v.text == "true" }

// Literal returns the literal of a number, boolean or null, or "".
func (v *Value) Literal() string {
	switch v.Kind() {
	case Number, Bool:
		return v.text
	case Null:
		return "null"
	default:
		return ""
	}
}

// JSON returns the value in one line.
func (v *Value) JSON() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

// Indented returns the value with an indentation of two spaces.
func (v *Value) Indented() string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(v.JSON()), "", "  "); err != nil {
		return v.JSON()
	}
	return b.String()
}

func (v *Value) write(b *strings.Builder) {
	switch v.Kind() {
	case String:
		b.WriteString(quote(v.text))
	case Array:
		b.WriteByte('[')
		for i, item := range v.items {
			separate(b, i)
			item.write(b)
		}
		b.WriteByte(']')
	case Object:
		b.WriteByte('{')
		for i, member := range v.members {
			separate(b, i)
			b.WriteString(quote(member.Name) + ":")
			member.Value.write(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.Literal())
	}
}

func separate(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

// quote returns a JSON string without the escapes for HTML.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return `""` // a string is always encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
