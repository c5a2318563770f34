package spec

import (
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
)

// Example returns the example of a media type or parameter: its own one or one that is
// derived from the schema. Members that are only in the other direction are omitted:
// readOnly in requests, writeOnly in responses.
func (d *Document) Example(holder *jsontree.Value, request bool) *jsontree.Value {
	if v := d.given(holder); v != nil {
		return v
	}
	skip := "writeOnly"
	if request {
		skip = "readOnly"
	}
	w := sampler{doc: d, skip: skip, left: maxFields, open: map[*jsontree.Value]bool{}}
	return w.sample(d.schema(holder.Get("schema")))
}

// given returns the first example of a media type or parameter, or nil.
func (d *Document) given(holder *jsontree.Value) *jsontree.Value {
	if v := holder.Get("example"); v != nil {
		return v
	}
	for _, member := range holder.Get("examples").Members() {
		if v := d.Resolve(member.Value).Get("value"); v != nil {
			return v
		}
	}
	return nil
}

// ownExample returns the example of a schema, or nil.
func (s *schema) ownExample() *jsontree.Value {
	if items := s.get("examples").Items(); len(items) > 0 {
		return items[0]
	}
	return s.get("example")
}

type sampler struct {
	doc  *Document
	skip string // keyword of the members to omit
	left int
	open map[*jsontree.Value]bool
}

func (w *sampler) sample(s *schema) *jsontree.Value {
	for _, keyword := range []string{"const", "default"} {
		if v := s.get(keyword); v != nil && s.ownExample() == nil {
			return v
		}
	}
	if v := s.ownExample(); v != nil {
		return v
	}
	if items := s.get("enum").Items(); len(items) > 0 {
		return items[0]
	}
	for _, part := range s.parts {
		if w.open[part] || w.left <= 0 {
			return jsontree.NewLiteral(jsontree.Null, null)
		}
	}
	for _, part := range s.parts {
		w.open[part] = true
		defer delete(w.open, part)
	}
	if types := s.types(); len(types) > 0 {
		return w.ofType(s, types[0])
	}
	if _, variants := s.variants(); variants != nil {
		return w.sample(w.doc.schema(variants[0]))
	}
	return jsontree.NewLiteral(jsontree.Null, null)
}

func (w *sampler) ofType(s *schema, t string) *jsontree.Value {
	switch t {
	case object:
		return w.object(s)
	case array:
		if items := s.get("items"); items.Kind() == jsontree.Object {
			if inner := w.doc.schema(items); !w.isOpen(inner) {
				return jsontree.NewArray(w.sample(inner))
			}
		}
		return jsontree.NewArray()
	case "integer", "number":
		return jsontree.NewLiteral(jsontree.Number, s.number())
	case "boolean":
		return jsontree.NewLiteral(jsontree.Bool, "true")
	case "string":
		return jsontree.NewString(s.text())
	default:
		return jsontree.NewLiteral(jsontree.Null, null)
	}
}

func (w *sampler) object(s *schema) *jsontree.Value {
	v := jsontree.NewObject()
	add := func(holder *jsontree.Value, name string, required bool, inner *schema) {
		if w.left--; w.left < 0 || (w.isOpen(inner) && !required) ||
			inner.get(w.skip).True() || inner.get("deprecated").True() {
			return
		}
		holder.Set(name, w.sample(inner))
	}
	for _, p := range s.properties() {
		add(v, p.name, p.required, w.doc.schema(p.nodes...))
	}
	if _, variants := s.variants(); variants != nil {
		first := w.doc.schema(variants[0])
		for _, p := range first.properties() {
			add(v, p.name, p.required, w.doc.schema(p.nodes...))
		}
	}
	if more := s.get("additionalProperties"); more.Kind() == jsontree.Object &&
		len(v.Members()) == 0 {
		add(v, "key", false, w.doc.schema(more))
	}
	return v
}

// isOpen reports whether an object contains itself.
func (w *sampler) isOpen(s *schema) bool {
	for _, part := range s.parts {
		if w.open[part] {
			return true
		}
	}
	return false
}

// number returns a number that respects the minimum.
func (s *schema) number() string {
	for _, keyword := range []string{"minimum", "multipleOf"} {
		if n := numeral(s.get(keyword)); n != "" {
			return n
		}
	}
	if numeral(s.get("exclusiveMinimum")) == "0" {
		return "1"
	}
	return "0"
}

// maxText limits the length of a generated string.
const maxText = 64

// text returns a string of the format or the minimum length.
func (s *schema) text() string {
	text, ok := map[string]string{
		"date-time": "2026-01-02T15:04:05Z", "date": "2026-01-02", "time": "15:04:05Z",
		"duration": "PT1H", "email": "ada@example.com", "hostname": "example.com",
		"uri": "https://example.com/", "url": "https://example.com/",
		"uuid": "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
		"ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	}[s.get("format").Str()]
	if ok {
		return text
	}
	return s.filler()
}

func (s *schema) filler() string {
	const text = "string"
	if most, err := strconv.Atoi(numeral(s.get("maxLength"))); err == nil && most < len(text) {
		return text[:max(most, 0)]
	}
	if least, err := strconv.Atoi(numeral(s.get("minLength"))); err == nil && least > len(text) {
		return strings.Repeat("x", min(least, maxText))
	}
	return text
}
