package xbind

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// Body is the kind of body from which Request fills a struct.
type Body uint8

// Kinds of bodies.
const (
	// BodyNone means that the request has no body.
	BodyNone Body = iota
	// BodyJSON is a JSON object.
	BodyJSON
	// BodyForm is a form without files.
	BodyForm
	// BodyFiles is a multipart form with files.
	BodyFiles
	// BodyUpload is a multipart form that the handler reads (see Upload).
	BodyUpload
	// BodyRaw is a body of any type that the handler reads (see Raw).
	BodyRaw
)

// Form is embedded in a struct whose form fields are the body, not the query. A struct
// with files does not need it.
type Form struct{}

// Layout describes which part of a request fills which field of a struct. It must not be
// modified.
type Layout struct {
	// Params are the parameters in the path, the query and the headers.
	Params []Param
	// Body is the kind of the body.
	Body Body
	// FormFields are the text fields and the files of the form.
	FormFields []Param

	byPath   map[string]*Param // all parameters and form fields by Go path
	hasQuery bool
	special  []int // index of the Upload or Raw

	jsonFields []string        // Go paths of the members of the JSON body
	isForm     bool            // the struct embeds Form
	hasFiles   bool            // the struct has files
	names      map[string]bool // tags and names of the parameters
	err        error
}

// Param is a field that is filled from a parameter or from a field of a form.
type Param struct {
	// Name is the name in the request.
	Name string
	// From is Path, Query or Header for a parameter and Body for a field of a form.
	From xvalid.Source
	// Field is the field. Its Index is the path from the outermost struct.
	Field reflect.StructField
	// File reports whether the field is filled with files, and Many whether it accepts
	// several.
	File, Many bool

	setText    textSetter // a fast path for one value, or nil
	set        setter
	hasDefault bool // of the tag
}

var layouts jsonplan.Cache[reflect.Type, *Layout]

// LayoutOf returns the layout of a type for Request. The error joins all contradictions
// in the tags of the type.
func LayoutOf(t reflect.Type) (*Layout, error) {
	l := layoutOf(t)
	return l, l.err
}

func layoutOf(t reflect.Type) *Layout { return layouts.Get(t, makeLayout) }

var (
	formType   = reflect.TypeFor[Form]()
	uploadType = reflect.TypeFor[*Upload]()
	rawType    = reflect.TypeFor[*Raw]()
)

func makeLayout(t reflect.Type) *Layout {
	l := &Layout{byPath: map[string]*Param{}, names: map[string]bool{}}
	if t.Kind() != reflect.Struct {
		l.Body = BodyJSON // a list or a map
		return l
	}
	l.addStruct(t, nil, "", []reflect.Type{t})
	l.chooseBody(t)
	for _, list := range [][]Param{l.Params, l.FormFields} {
		for i := range list {
			l.byPath[goPath(t, list[i].Field.Index)] = &list[i]
		}
	}
	return l
}

// goPath returns the names of the fields on the way to a field, joined by dots.
func goPath(t reflect.Type, index []int) string {
	var names []string
	for _, i := range index {
		f := indirect(t).Field(i)
		names, t = append(names, f.Name), f.Type
	}
	return strings.Join(names, ".")
}

// addStruct adds the fields of a struct and of the structs that it embeds. path is its
// index path, and outer contains the enclosing structs.
func (l *Layout) addStruct(t reflect.Type, index []int, prefix string, outer []reflect.Type) {
	for f := range t.Fields() {
		f.Index = append(slices.Clip(index), f.Index...)
		source, name, tagged := parameterTag(f)
		inner := indirect(f.Type)
		switch {
		case f.Type == formType:
			l.isForm = true
		case f.Type == uploadType || f.Type == rawType:
			l.addSpecial(f)
		case f.Anonymous && !tagged && inner.Kind() == reflect.Struct && !isNamedMember(f):
			if slices.Contains(outer, inner) {
				continue
			}
			if f.Type.Kind() == reflect.Pointer {
				l.addPointer(f, inner)
				continue
			}
			l.addStruct(inner, f.Index, prefix+f.Name+".", append(slices.Clip(outer), inner))
		case !f.IsExported() || f.Tag.Get("json") == "-" && !tagged && !isFileType(f.Type):
		case isFileType(f.Type):
			l.addFile(f, name)
		case tagged:
			l.addParam(f, source, name)
		default:
			l.jsonFields = append(l.jsonFields, prefix+f.Name)
		}
	}
}

// addPointer adds an embedded pointer to a struct, which can contain members of the body
// only.
func (l *Layout) addPointer(f reflect.StructField, inner reflect.Type) {
	nested := makeLayout(inner)
	if len(nested.Params)+len(nested.FormFields) > 0 {
		l.fail(f, "embeds a pointer to a struct with parameters: embed the struct itself")
	}
	l.jsonFields = append(l.jsonFields, nested.jsonFields...)
}

// isNamedMember reports whether an embedded struct is a member of the JSON body with its
// own name.
func isNamedMember(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name != "" && name != "-"
}

// parameterTag returns the source and the name of a field with a tag of a parameter.
func parameterTag(f reflect.StructField) (source xvalid.Source, name string, ok bool) {
	for _, source := range [...]xvalid.Source{xvalid.Path, xvalid.Query, xvalid.Header} {
		if name, _, _ := strings.Cut(f.Tag.Get(tags[source]), ","); name != "" && name != "-" {
			return source, name, true
		}
	}
	return 0, f.Name, false
}

func (l *Layout) addSpecial(f reflect.StructField) {
	if l.special != nil {
		l.fail(f, "is a second body")
		return
	}
	l.special, l.Body = f.Index, BodyRaw
	if f.Type == uploadType {
		l.Body = BodyUpload
	}
}

func (l *Layout) addFile(f reflect.StructField, name string) {
	l.hasFiles = true
	l.FormFields = append(l.FormFields, Param{
		Name: name, From: xvalid.Body, Field: f, File: true, Many: f.Type.Kind() == reflect.Slice,
	})
}

func (l *Layout) addParam(f reflect.StructField, source xvalid.Source, name string) {
	count := 0
	for _, tag := range [...]string{"uri", "form", "header"} {
		if v := f.Tag.Get(tag); v != "" && v != "-" {
			count++
		}
	}
	if count > 1 {
		l.fail(f, "has several of the tags uri, form and header: one field has one source")
		return
	}
	if source == xvalid.Header {
		name = http.CanonicalHeaderKey(name)
	}
	space := tags[source] + " " + name
	if l.names[space] {
		l.fail(f, "has the same name as another field: "+space)
		return
	}
	l.names[space] = true
	p := Param{Name: name, From: source, Field: f}
	p.Many = elementType(f.Type) != indirect(f.Type)
	if err := p.addSetter(tags[source]); err != nil {
		l.fail(f, err.Error())
		return
	}
	l.Params = append(l.Params, p)
	l.hasQuery = l.hasQuery || source == xvalid.Query
}

// chooseBody determines the kind of the body and reports contradictions. The form fields
// of a struct with files are part of the body.
func (l *Layout) chooseBody(t reflect.Type) {
	problem := func(format string, args ...any) {
		l.err = errors.Join(l.err, fmt.Errorf("xbind: "+t.String()+": "+format, args...))
	}
	if l.special != nil {
		for _, f := range l.jsonFields {
			problem("field %s is a JSON member, but another field reads the whole body: "+
				"add a tag uri, form or header", f)
		}
		if l.hasFiles || l.isForm {
			problem("the type has an Upload or a Raw and a form: use one of them")
		}
		return
	}
	if !l.hasFiles && !l.isForm {
		if len(l.jsonFields) > 0 {
			l.Body = BodyJSON
		}
		return
	}
	l.Body = BodyForm
	if l.hasFiles {
		l.Body = BodyFiles
	}
	for _, f := range l.jsonFields {
		problem("field %s is a JSON member, but the body is a form: add the tag form", f)
	}
	params := l.Params
	l.Params, l.hasQuery = nil, false
	for _, p := range params {
		if p.From == xvalid.Query {
			p.From = xvalid.Body
			l.FormFields = append(l.FormFields, p)
		} else {
			l.Params = append(l.Params, p)
		}
	}
}

func (l *Layout) fail(f reflect.StructField, problem string) {
	l.err = errors.Join(l.err, fmt.Errorf("xbind: field %s %s", f.Name, problem))
}
