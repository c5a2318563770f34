package xcache

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// fields maps the fields of a struct to the fields of a hash.
type fields struct {
	list   []structField
	byName map[string]structField // the elements of list
}

type structField struct {
	name      string
	index     []int
	omitEmpty bool // true for pointers
	raw       bool
}

var fieldPlans jsonplan.Cache[reflect.Type, *fields]

// fieldsOf returns the cached plan of a struct type. It panics if t is not a struct or if
// two fields have the same name.
func fieldsOf(t reflect.Type) *fields { return fieldPlans.Get(t, newFields) }

func newFields(t reflect.Type) *fields {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("xcache: %s cannot be stored as a hash: it is not a struct", t))
	}
	p := &fields{byName: map[string]structField{}}
	p.add(t, nil)
	return p
}

// add adds the fields of t. Fields of an untagged embedded struct are promoted.
func (p *fields) add(t reflect.Type, index []int) {
	for f := range t.Fields() {
		name, omitEmpty, tagged := tagOf(f)
		at := slices.Concat(index, f.Index)
		if f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct && !encodesItself(f.Type) {
			p.add(f.Type, at)
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if _, duplicate := p.byName[name]; duplicate {
			panic(fmt.Sprintf("xcache: %s has two fields named %q", t, name))
		}
		field := structField{name: name, index: at, omitEmpty: omitEmpty, raw: isRaw(f.Type)}
		if f.Type.Kind() == reflect.Pointer {
			field.omitEmpty, field.raw = true, isRaw(f.Type.Elem())
		}
		p.byName[name] = field
		p.list = append(p.list, field)
	}
}

// tagOf returns the name of a field in a hash: from the cache tag, else from the json
// tag, else the Go name.
func tagOf(f reflect.StructField) (name string, omitEmpty, tagged bool) {
	tag, ok := f.Tag.Lookup("cache")
	if !ok {
		tag = f.Tag.Get("json")
	}
	name, options, _ := strings.Cut(tag, ",")
	for option := range strings.SplitSeq(options, ",") {
		omitEmpty = omitEmpty || option == "omitempty" || option == "omitzero"
	}
	if name == "" {
		return f.Name, omitEmpty, false
	}
	return name, omitEmpty, true
}

// encode returns the fields of v to write and those to remove.
func (p *fields) encode(c Codec, v reflect.Value) (set []driver.Field, remove []string, err error) {
	for _, f := range p.list {
		value := v.FieldByIndex(f.index)
		if f.omitEmpty && value.IsZero() {
			remove = append(remove, f.name)
			continue
		}
		data, err := encode(c, f.raw, reflect.Indirect(value))
		if err != nil {
			return nil, nil, fmt.Errorf("field %q: %w", f.name, err)
		}
		set = append(set, driver.Field{Name: f.name, Value: data})
	}
	return set, remove, nil
}

// decode sets the fields of v from list and ignores unknown names.
func (p *fields) decode(c Codec, list []driver.Field, v reflect.Value) error {
	for _, item := range list {
		f, ok := p.byName[item.Name]
		if !ok {
			continue
		}
		target := v.FieldByIndex(f.index)
		if target.Kind() == reflect.Pointer {
			target.Set(reflect.New(target.Type().Elem()))
			target = target.Elem()
		}
		if err := decode(c, f.raw, item.Value, target); err != nil {
			return fmt.Errorf("field %q: %w", f.name, err)
		}
	}
	return nil
}
