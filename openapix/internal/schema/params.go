package schema

import (
	"reflect"
	"strings"

	"github.com/plinthgo/plinth/core/major/xbind"
)

// patternDuration is the format of time.ParseDuration.
const patternDuration = `^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// Param returns the schema of a parameter or of a form field of an input, and whether a
// request must contain it.
func (b *Builder) Param(t reflect.Type, p *xbind.Param) (s *Schema, required bool) {
	ft := p.Field.Type
	if p.File {
		s = b.file(p)
	} else {
		s = b.text(indirect(ft), p)
	}
	base := s
	class := classOf(indirect(ft), base)
	if p.File || p.Field.Type == durationType {
		class = classOther
	}
	r := b.apply(base, ft, class, Request, p.Field.Tag.Get("binding"))
	if text, ok := defaultOf(p); ok {
		r.rejectsZero = false
		base.Default = b.literal(
			sample{qualified(t), p.Field, p.Name, p, "default", text}, base)
	}
	b.document(base, t, p.Field, p.Name, p)
	return base, r.rejectsZero
}

// defaultOf returns the default in the tag of a parameter. A semicolon separates the
// elements of a list.
func defaultOf(p *xbind.Param) (text string, ok bool) {
	for _, tag := range [...]string{"uri", "form", "header"} {
		for option := range strings.SplitSeq(p.Field.Tag.Get(tag), ",") {
			if text, ok = strings.CutPrefix(option, "default="); ok {
				return strings.ReplaceAll(text, ";", ","), true
			}
		}
	}
	return "", false
}

// file returns the schema of uploaded files.
func (b *Builder) file(p *xbind.Param) *Schema {
	s := &Schema{Types: []string{"string"}, Format: "binary"}
	if p.Many {
		return &Schema{Types: []string{"array"}, Items: s}
	}
	return s
}

// text returns the schema of a value that is converted from text.
func (b *Builder) text(t reflect.Type, p *xbind.Param) *Schema {
	switch {
	case t == idType:
		return known(t)
	case reflect.PointerTo(t).Implements(paramType):
		return Of("string")
	case t == timeType:
		return timeSchema(p.Field.Tag.Get("time_format"))
	case t == durationType:
		return &Schema{Types: []string{"string"}, Pattern: patternDuration}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return &Schema{Types: []string{"array"}, Items: b.text(indirect(t.Elem()), p)}
	}
	if s := scalar(t); s != nil {
		return s
	}
	return Of("string") // the tag names a parser
}

// timeSchema returns the schema of a time with the time_format of gin.
func timeSchema(format string) *Schema {
	switch strings.ToLower(format) {
	case "unix", "unixmilli", "unixmicro", "unixnano":
		return &Schema{Types: []string{"integer"}, Format: "int64"}
	case "":
		return &Schema{Types: []string{"string"}, Format: "date-time"}
	}
	s, _ := datetime(format)
	if s == nil {
		s = &Schema{Binding: "datetime=" + format}
	}
	s.Types = []string{"string"}
	return s
}
