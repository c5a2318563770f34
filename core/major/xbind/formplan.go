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

// formPlan describes how gin maps values onto a type by a tag, and the file fields of the
// type. gin would also fill the fields of a file header from text, so a client could
// forge an upload. To prevent this, the binder sets every file header itself, and rejects
// types with file headers that it cannot set.
type formPlan struct {
	tag         string
	isMap       bool // accepts any name
	fields      []formField
	files       []fileField
	fileStructs []string // structs with files, which gin would also fill from JSON text
	err         error    // developer error: the form cannot fill some file fields
}

type formField struct {
	name   string
	typ    reflect.Type // of a single value
	format string       // of a time.Time
}

// fileField is a field of type multipart.FileHeader, a pointer to it, or a slice of
// either.
type fileField struct {
	name  string
	index []int // field indexes on the path; each step may cross several pointers
	many  bool
}

type formKey struct {
	typ reflect.Type
	tag string
}

var formPlans jsonplan.Cache[formKey, *formPlan]

func formPlanOf(t reflect.Type, tag string) *formPlan {
	return formPlans.Get(formKey{t, tag}, makeFormPlan)
}

func makeFormPlan(k formKey) *formPlan {
	p := &formPlan{tag: k.tag, isMap: k.typ.Kind() == reflect.Map}
	switch root := indirect(k.typ); {
	case isHeader(root):
		p.addError(root, "the target")
	case root.Kind() == reflect.Struct:
		p.addStruct(root, nil, nil)
	}
	return p
}

// addStruct adds the fields of a struct. outer contains the enclosing structs.
func (p *formPlan) addStruct(t reflect.Type, index []int, outer []reflect.Type) {
	outer = append(slices.Clip(outer), t)
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get(p.tag), ",")
		if name != "-" && (f.IsExported() || f.Anonymous) {
			p.addField(f, cmp.Or(name, f.Name), append(slices.Clip(index), f.Index...), outer)
		}
	}
}

func (p *formPlan) addField(f reflect.StructField, name string, index []int, outer []reflect.Type) {
	inner := indirect(f.Type)
	nested := inner.Kind() == reflect.Struct && !slices.Contains(outer, inner)
	if containsFile(f.Type, map[reflect.Type]bool{}) {
		// reflect cannot set other fields, and gin would panic
		settable := f.IsExported() || f.Type.Kind() == reflect.Struct
		switch {
		case f.IsExported() && isFileType(f.Type):
			p.files = append(p.files,
				fileField{name: name, index: index, many: f.Type.Kind() == reflect.Slice})
			return
		case !settable || !nested || isHeader(inner):
			p.addError(f.Type, "field "+f.Name+" of "+outer[len(outer)-1].String())
			return
		case !f.Anonymous:
			p.fileStructs = append(p.fileStructs, name)
		}
	}
	p.addText(f, name)
	if nested {
		p.addStruct(inner, index, outer)
	}
}

// addText adds a field that text can fill. It ignores an embedded struct, which has no
// name of its own.
func (p *formPlan) addText(f reflect.StructField, name string) {
	if !f.Anonymous || indirect(f.Type).Kind() != reflect.Struct {
		p.fields = append(p.fields,
			formField{name: name, typ: elementType(f.Type), format: f.Tag.Get("time_format")})
	}
}

func (p *formPlan) addError(t reflect.Type, what string) {
	p.err = errors.Join(p.err,
		fmt.Errorf("xbind: a form cannot fill the files in %s of type %s: "+
			"use multipart.FileHeader, a pointer to it or a slice of either, "+
			`or exclude the field with the tag %s:"-"`, what, t, p.tag))
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func elementType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}

func isFileType(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t == headerType || t == reflect.PointerTo(headerType)
}

// isHeader reports whether t is multipart.FileHeader or a type defined from it.
func isHeader(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.ConvertibleTo(headerType)
}

// containsFile reports whether a value of type t can contain a file header. seen contains
// the visited types.
func containsFile(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return containsFile(t.Elem(), seen)
	case reflect.Struct:
		if isHeader(t) {
			return true
		}
		for f := range t.Fields() {
			if (f.IsExported() || f.Anonymous) && containsFile(f.Type, seen) {
				return true
			}
		}
	default:
	}
	return false
}
