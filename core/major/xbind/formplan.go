package xbind

import (
	"cmp"
	"errors"
	"fmt"
	"mime/multipart"
	"reflect"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

var headerType = reflect.TypeFor[multipart.FileHeader]()

// formPlan lists what gin maps onto a type by a tag, and its files. Gin's mapping fills
// the fields of a file header from text, so a client could forge an upload: each file
// header is therefore in files, which the binder sets itself, or the binder refuses the
// type.
type formPlan struct {
	tag    string
	open   bool // a map, which takes whatever is given
	fields []formField
	files  []fileField
	closed []string // structs with files, which gin would also fill from JSON text
	err    error    // files that no form can fill: a mistake of the developer
}

// formField is a field that text can fill.
type formField struct {
	name   string
	typ    reflect.Type // of one value
	format string       // of a time
}

// fileField is a field of the type multipart.FileHeader, a pointer to it, or a slice of
// either.
type fileField struct {
	name  string
	index []int // of a field in each struct on the way, with any number of pointers between them
	many  bool
}

// formKey finds the plan of a type by a tag.
type formKey struct {
	typ reflect.Type
	tag string
}

var formPlans jsonplan.Cache[formKey, *formPlan]

// formPlanOf returns the plan of a type by a tag, which is made once.
func formPlanOf(t reflect.Type, tag string) *formPlan {
	return formPlans.Get(formKey{t, tag}, makeFormPlan)
}

func makeFormPlan(k formKey) *formPlan {
	p := &formPlan{tag: k.tag, open: k.typ.Kind() == reflect.Map}
	switch root := indirect(k.typ); {
	case isHeader(root):
		p.refuse(root, "the target")
	case root.Kind() == reflect.Struct:
		p.addStruct(root, nil, nil)
	}
	return p
}

// addStruct adds the fields of a struct; above are the structs around it.
func (p *formPlan) addStruct(t reflect.Type, index []int, above []reflect.Type) {
	above = append(slices.Clip(above), t)
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get(p.tag), ",")
		if name != "-" && (f.IsExported() || f.Anonymous) {
			p.addField(f, cmp.Or(name, f.Name), append(slices.Clip(index), f.Index...), above)
		}
	}
}

func (p *formPlan) addField(f reflect.StructField, name string, index []int, above []reflect.Type) {
	inner := indirect(f.Type)
	nested := inner.Kind() == reflect.Struct && !slices.Contains(above, inner)
	if holdsFile(f.Type, map[reflect.Type]bool{}) {
		// else reflect cannot set it, and gin panics
		settable := f.IsExported() || f.Type.Kind() == reflect.Struct
		switch {
		case f.IsExported() && isFileType(f.Type):
			p.files = append(p.files,
				fileField{name: name, index: index, many: f.Type.Kind() == reflect.Slice})
			return
		case !settable || !nested || isHeader(inner):
			p.refuse(f.Type, "field "+f.Name+" of "+above[len(above)-1].String())
			return
		case !f.Anonymous:
			p.closed = append(p.closed, name)
		}
	}
	p.addText(f, name)
	if nested {
		p.addStruct(inner, index, above)
	}
}

// addText adds a field that text can fill. An embedded struct has no name of its own.
func (p *formPlan) addText(f reflect.StructField, name string) {
	if !f.Anonymous || indirect(f.Type).Kind() != reflect.Struct {
		p.fields = append(p.fields,
			formField{name: name, typ: oneOf(f.Type), format: f.Tag.Get("time_format")})
	}
}

func (p *formPlan) refuse(t reflect.Type, what string) {
	p.err = errors.Join(p.err,
		fmt.Errorf("xbind: %s has the type %s, whose files a form cannot fill: "+
			`use multipart.FileHeader, a pointer to it or a slice of either, or exclude the field with the tag %s:"-"`, what, t, p.tag))
}

// indirect returns what pointers of type t lead to.
func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// oneOf returns the type of one of the values that fill t.
func oneOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}

// isFileType reports whether uploads fill a field of the type.
func isFileType(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t == headerType || t == reflect.PointerTo(headerType)
}

// isHeader reports whether t is multipart.FileHeader, or a type that is defined as it.
func isHeader(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.ConvertibleTo(headerType)
}

// holdsFile reports whether a value of the type can contain a file header. seen are the
// types of which that is known, or is being found out.
func holdsFile(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsFile(t.Elem(), seen)
	case reflect.Struct:
		if isHeader(t) {
			return true
		}
		for f := range t.Fields() {
			if (f.IsExported() || f.Anonymous) && holdsFile(f.Type, seen) {
				return true
			}
		}
	default:
	}
	return false
}
