package xbind

import (
	"errors"
	"fmt"
	"mime/multipart"
	"reflect"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

var headerType = reflect.TypeFor[multipart.FileHeader]()

// filePlan lists the files in a type. Gin's mapping fills the fields of a file header from text, so a client
// could forge an upload: each file header is therefore in fields, or the binder refuses the type.
type filePlan struct {
	tag    string
	fields []fileField
	closed []string // structs with files, which gin would also fill from JSON text
	err    error    // files that no form can fill: a mistake of the developer
}

// fileField is a field of the type multipart.FileHeader, a pointer to it, or a slice of either.
type fileField struct {
	name  string
	index []int // of a field in each struct on the way, with any number of pointers between them
	many  bool
}

var knownFiles jsonplan.Cache[parameterKey, *filePlan]

// filesOf returns the files of a type that gin maps by a tag.
func filesOf(t reflect.Type, tag string) *filePlan {
	key := parameterKey{t, tag}
	if p, ok := knownFiles.Load(key); ok {
		return p
	}
	p := &filePlan{tag: tag}
	switch root := indirect(t); {
	case isHeader(root):
		p.refuse(root, "the target")
	case root.Kind() == reflect.Struct:
		p.addStruct(root, nil, nil)
	}
	knownFiles.Store(key, p)
	return p
}

// addStruct adds the files of the fields that gin maps.
func (p *filePlan) addStruct(t reflect.Type, index []int, above []reflect.Type) {
	above = append(slices.Clone(above), t)
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get(p.tag) != "-" && (f.IsExported() || f.Anonymous) && holdsFile(f.Type, map[reflect.Type]bool{}) {
			p.addField(f, append(slices.Clone(index), i), above)
		}
	}
}

func (p *filePlan) addField(f reflect.StructField, index []int, above []reflect.Type) {
	name, _, _ := strings.Cut(f.Tag.Get(p.tag), ",")
	if name == "" {
		name = f.Name
	}
	inner := indirect(f.Type)
	unsettable := !f.IsExported() && f.Type.Kind() != reflect.Struct // reflect cannot set it, and gin panics
	switch {
	case f.IsExported() && isFileType(f.Type):
		p.fields = append(p.fields, fileField{name: name, index: index, many: f.Type.Kind() == reflect.Slice})
	case unsettable || inner.Kind() != reflect.Struct || isHeader(inner) || slices.Contains(above, inner):
		p.refuse(f.Type, "field "+f.Name+" of "+above[len(above)-1].String())
	default:
		if !f.Anonymous {
			p.closed = append(p.closed, name)
		}
		p.addStruct(inner, index, above)
	}
}

func (p *filePlan) refuse(t reflect.Type, what string) {
	p.err = errors.Join(p.err, fmt.Errorf("xbind: %s has the type %s, whose files a form cannot fill: "+
		`use multipart.FileHeader, a pointer to it or a slice of either, or exclude the field with the tag %s:"-"`, what, t, p.tag))
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

// holdsFile reports whether a value of the type can contain a file header. seen are the types of which
// that is known, or is being found out.
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
		for i := range t.NumField() {
			if f := t.Field(i); (f.IsExported() || f.Anonymous) && holdsFile(f.Type, seen) {
				return true
			}
		}
	default:
	}
	return false
}

// take removes the files from a value and returns them, in the order of the fields.
func (p *filePlan) take(v reflect.Value) []reflect.Value {
	if len(p.fields) == 0 {
		return nil
	}
	taken := make([]reflect.Value, len(p.fields))
	for i, f := range p.fields {
		if field, ok := f.find(v); ok {
			taken[i] = reflect.New(field.Type()).Elem()
			taken[i].Set(field)
			field.SetZero()
		}
	}
	return taken
}

// restore sets the files that take returned, and removes all others.
func (p *filePlan) restore(v reflect.Value, taken []reflect.Value) {
	for i, f := range p.fields {
		switch field, ok := f.find(v); {
		case !ok:
		case taken[i].IsValid():
			field.Set(taken[i])
		default:
			field.SetZero()
		}
	}
}

// find returns the field in v, unless a pointer on the way is nil.
func (f fileField) find(v reflect.Value) (field reflect.Value, ok bool) {
	for _, i := range f.index {
		for v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if !v.IsValid() {
			return v, false
		}
		v = v.Field(i)
	}
	return v, true
}

// reach returns the field in v, and allocates the structs on the way.
func (f fileField) reach(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// set fills the field in v with files; none removes what is there.
func (f fileField) set(v reflect.Value, files []*multipart.FileHeader) {
	field, ok := f.find(v)
	switch {
	case len(files) == 0:
		if ok {
			field.SetZero()
		}
		return
	case !ok:
		field = f.reach(v)
	}
	if !f.many {
		setFile(field, files[len(files)-1])
		return
	}
	list := reflect.MakeSlice(field.Type(), len(files), len(files))
	for i, file := range files {
		setFile(list.Index(i), file)
	}
	field.Set(list)
}

// setFile sets a pointer to a file header, or a file header.
func setFile(field reflect.Value, file *multipart.FileHeader) {
	v := reflect.ValueOf(file)
	if field.Kind() != reflect.Pointer {
		v = v.Elem()
	}
	field.Set(v)
}
