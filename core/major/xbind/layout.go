package xbind

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
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
	special  []int     // index of the Upload or Raw
	json     *plan     // of a JSON body
	form     *formPlan // of a form

	typ    reflect.Type
	isForm bool            // the struct embeds Form
	own    [][]int         // indexes of the fields that are not members of a JSON body
	names  map[string]bool // tags and names of the parameters
	err    error
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
	uploadType = reflect.TypeFor[Upload]()
	rawType    = reflect.TypeFor[Raw]()
)

func makeLayout(t reflect.Type) *Layout {
	l := &Layout{
		byPath: map[string]*Param{}, json: planOf(t), form: &formPlan{tag: tags[xvalid.Body]},
		typ: t, names: map[string]bool{},
	}
	if t.Kind() != reflect.Struct {
		l.Body = BodyJSON // a list or a map
		return l
	}
	l.addStruct(t, nil, []reflect.Type{t})
	l.chooseBody(l.members())
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

// addStruct adds the parameters of a struct and of the structs that it embeds. index is
// the index path of the struct, and outer contains the enclosing structs.
func (l *Layout) addStruct(t reflect.Type, index []int, outer []reflect.Type) {
	for f := range t.Fields() {
		f.Index = append(slices.Clip(index), f.Index...)
		_, _, tagged := parameterTag(f)
		inner := indirect(f.Type)
		switch {
		case f.Type == formType:
			l.isForm = true
		case inner == uploadType || inner == rawType:
			l.own = append(l.own, f.Index)
			l.addSpecial(f)
		case f.Anonymous && !tagged && inner.Kind() == reflect.Struct && !isFileType(f.Type):
			if !slices.Contains(outer, inner) {
				l.addEmbedded(f, inner, append(slices.Clip(outer), inner))
			}
		case f.IsExported():
			l.addField(f)
		}
	}
}

// addField adds a field if it is a parameter or a file.
func (l *Layout) addField(f reflect.StructField) {
	source, name, tagged := parameterTag(f)
	switch {
	case isFileType(f.Type) && f.Tag.Get("form") != "-":
		l.own = append(l.own, f.Index)
		l.addFile(f, source, name)
	case tagged:
		l.own = append(l.own, f.Index)
		l.addParam(f, source, name)
	}
}

// addEmbedded adds the parameters of an embedded struct. An embedded pointer may be nil,
// so its struct cannot have parameters.
func (l *Layout) addEmbedded(f reflect.StructField, inner reflect.Type, outer []reflect.Type) {
	before := len(l.Params) + len(l.FormFields)
	l.addStruct(inner, f.Index, outer)
	if f.Type.Kind() == reflect.Pointer && len(l.Params)+len(l.FormFields) > before {
		l.fail(f, "is an embedded pointer to a struct with parameters: embed the struct itself")
	}
}

// members returns the fields that are members of the JSON body, and excludes all other
// fields from its plan.
func (l *Layout) members() []jsonplan.Field {
	var members []jsonplan.Field
	var excluded []string
	for _, f := range jsonplan.Fields(l.typ) {
		contains := func(index []int) bool {
			return len(index) <= len(f.Index) && slices.Equal(index, f.Index[:len(index)])
		}
		if slices.ContainsFunc(l.own, contains) {
			excluded = append(excluded, f.Name)
		} else {
			members = append(members, f)
		}
	}
	l.json = l.json.without(excluded)
	return members
}

// parameterTag returns the source and the name of a field with a tag of a parameter.
func parameterTag(f reflect.StructField) (source xvalid.Source, name string, ok bool) {
	for _, source := range [...]xvalid.Source{xvalid.Path, xvalid.Query, xvalid.Header} {
		if tag := f.Tag.Get(tags[source]); tag != "" && tag != "-" {
			name, _, _ := strings.Cut(tag, ",")
			return source, name, true
		}
	}
	return 0, f.Name, false
}

func (l *Layout) addSpecial(f reflect.StructField) {
	switch {
	case f.Type.Kind() != reflect.Pointer:
		l.fail(f, "is not a pointer: use *%s", f.Type)
	case l.special != nil:
		l.fail(f, "is a second body: a request has one")
	case f.Type.Elem() == uploadType:
		l.special, l.Body = f.Index, BodyUpload
	default:
		l.special, l.Body = f.Index, BodyRaw
	}
}

func (l *Layout) addFile(f reflect.StructField, source xvalid.Source, name string) {
	many := f.Type.Kind() == reflect.Slice
	switch name = cmp.Or(name, f.Name); {
	case source == xvalid.Path || source == xvalid.Header:
		l.fail(f, "is a file with the tag %s: use the tag form", tags[source])
	case l.isUnique(f, tags[xvalid.Body], name):
		l.FormFields = append(l.FormFields,
			Param{Name: name, From: xvalid.Body, Field: f, File: true, Many: many})
		l.form.files = append(l.form.files, fileField{name: name, index: f.Index, many: many})
	}
}

func (l *Layout) addParam(f reflect.StructField, source xvalid.Source, name string) {
	var tagged []string
	for _, tag := range [...]string{"uri", "form", "header"} {
		if v := f.Tag.Get(tag); v != "" && v != "-" {
			tagged = append(tagged, tag)
		}
	}
	if source == xvalid.Header {
		name = http.CanonicalHeaderKey(name)
	}
	p := Param{
		Name: name, From: source, Field: f, Many: elementType(f.Type) != indirect(f.Type),
	}
	switch {
	case len(tagged) > 1:
		l.fail(f, "has the tags %s: keep one, because a field has one source",
			strings.Join(tagged, " and "))
	case name == "":
		l.fail(f, "has the tag %s without a name: add the name", tagged[0])
	case !l.isUnique(f, tags[source], name):
	case !p.addSetter(tags[source]):
		l.fail(f, "has the type %s, which a parameter cannot have: use a basic type, a list of "+
			"one, time.Time, a type with the method UnmarshalParam, or the option "+
			"parser=encoding.TextUnmarshaler", f.Type)
	default:
		l.Params = append(l.Params, p)
		l.hasQuery = l.hasQuery || source == xvalid.Query
	}
}

// isUnique reports whether no other field has the same name. It reports an error
// otherwise.
func (l *Layout) isUnique(f reflect.StructField, tag, name string) bool {
	key := tag + ":" + strconv.Quote(name)
	if l.names[key] {
		l.fail(f, "has the same name as another field (%s): rename one", key)
		return false
	}
	l.names[key] = true
	return true
}

// chooseBody determines the kind of the body and reports contradictions. In a struct with
// files or a Form, the fields with a form tag are part of the body.
func (l *Layout) chooseBody(members []jsonplan.Field) {
	isForm := l.isForm || len(l.form.files) > 0
	problem := ""
	switch {
	case l.special != nil:
		if isForm {
			l.problem("has a form, but also a field that reads the whole body: remove one")
			return
		}
		problem = "another field reads the whole body: add the tag uri, form or header"
	case isForm:
		l.chooseForm()
		problem = "the body is a form: add the tag form"
	case len(members) > 0 || jsonplan.DecodesItself(l.typ):
		l.Body = BodyJSON
	}
	for _, m := range members {
		f := l.typ.FieldByIndex(m.Index)
		switch {
		case problem != "":
			l.fail(f, "is a member of a JSON body, but "+problem)
		case containsFile(f.Type, map[reflect.Type]bool{}):
			l.fail(f, "contains a file in the type %s: use *xapi.File or a list of it as a field "+
				"of the input itself", f.Type)
		}
	}
}

// chooseForm makes the fields with a form tag fields of the form.
func (l *Layout) chooseForm() {
	l.Body = BodyForm
	if len(l.form.files) > 0 {
		l.Body = BodyFiles
	}
	params := l.Params
	l.Params, l.hasQuery = nil, false
	for _, p := range params {
		if p.From != xvalid.Query {
			l.Params = append(l.Params, p)
			continue
		}
		p.From = xvalid.Body
		l.FormFields = append(l.FormFields, p)
		l.form.fields = append(l.form.fields, formField{name: p.Name})
	}
}

func (l *Layout) fail(f reflect.StructField, format string, args ...any) {
	l.problem("field "+f.Name+" "+format, args...)
}

func (l *Layout) problem(format string, args ...any) {
	l.err = errors.Join(l.err, fmt.Errorf("xbind: "+l.typ.String()+": "+format, args...))
}
