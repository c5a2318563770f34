package xbind

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// plan says what encoding/json does with the JSON values that fill a type: which members of an object
// reach the same field, and which reach none.
type plan struct {
	typ reflect.Type

	fields []planField
	exact  map[string]int // where the fields are too many to be compared one by one
	folded map[string]int

	closed  bool  // an object's members are fields or unknown
	member  *plan // of an object's members that are no field
	element *plan // of a list

	own    bool // the type decodes itself
	quoted bool // the field has the string option
}

type planField struct {
	name string
	plan *plan
}

// linearFields is the number of fields up to which a name is compared with each.
const linearFields = 12

var (
	plans sync.Map // reflect.Type -> *plan

	anyPlan = newAnyPlan()

	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// newAnyPlan returns the plan of values that nothing is known of.
func newAnyPlan() *plan {
	p := &plan{}
	p.member, p.element = p, p
	return p
}

// planOf returns the plan of a type, which is made once.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan) //nolint:forcetypeassert // nothing else is stored
	}
	making := map[reflect.Type]*plan{}
	p := makePlan(t, making)
	for t, p := range making { // complete only now, as types may contain themselves
		plans.LoadOrStore(t, p)
	}
	plans.LoadOrStore(t, p)
	return p
}

func makePlan(t reflect.Type, making map[reflect.Type]*plan) *plan {
	for t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	if p, ok := making[t]; ok {
		return p
	}
	p := &plan{typ: t, member: anyPlan, element: anyPlan}
	making[t] = p
	if pt := reflect.PointerTo(t); pt.Implements(unmarshaler) || pt.Implements(textUnmarshaler) {
		p.own = true
		return p
	}
	switch t.Kind() {
	case reflect.Struct:
		p.closed = true
		p.setFields(jsonFields(t), making)
	case reflect.Map:
		p.member = makePlan(t.Elem(), making)
	case reflect.Slice, reflect.Array:
		p.element = makePlan(t.Elem(), making)
	default:
	}
	return p
}

func (p *plan) setFields(fields []jsonField, making map[reflect.Type]*plan) {
	p.folded = make(map[string]int, len(fields))
	if len(fields) > linearFields {
		p.exact = make(map[string]int, len(fields))
	}
	for i, f := range fields {
		child := makePlan(f.typ, making)
		if f.quoted {
			quoted := *child
			quoted.quoted = true
			child = &quoted
		}
		p.fields = append(p.fields, planField{name: f.name, plan: child})
		if p.exact != nil {
			p.exact[f.name] = i
		}
		fold := string(appendFold(nil, []byte(f.name)))
		if _, taken := p.folded[fold]; !taken {
			p.folded[fold] = i
		}
	}
}

// field returns the index of the field that a member fills, or -1: the field of this name, else the first
// whose name differs in case only.
func (p *plan) field(name []byte) int {
	if len(p.fields) == 0 {
		return -1
	}
	if p.exact != nil {
		if i, ok := p.exact[string(name)]; ok {
			return i
		}
	} else {
		for i := range p.fields {
			if p.fields[i].name == string(name) {
				return i
			}
		}
	}
	var scratch [64]byte
	if i, ok := p.folded[string(appendFold(scratch[:0], name))]; ok {
		return i
	}
	return -1
}

// appendFold appends the form that all names share which differ in case only (Unicode simple folding).
func appendFold(dst, name []byte) []byte {
	for len(name) > 0 {
		if c := name[0]; c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			dst, name = append(dst, c), name[1:]
			continue
		}
		r, n := utf8.DecodeRune(name)
		least := r
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			least = min(least, o)
		}
		dst, name = utf8.AppendRune(dst, least), name[n:]
	}
	return dst
}

// refuses reports whether the type itself refuses a value, for the kinds of refusal that encoding/json
// reports without saying where.
func (p *plan) refuses(value []byte) bool {
	switch {
	case string(value) == "null":
		return false
	case p.quoted:
		var inner string
		if json.Unmarshal(value, &inner) != nil {
			return false // a type error, which says where it is
		}
		return json.Unmarshal([]byte(inner), reflect.New(p.typ).Interface()) != nil
	case p.own, p.typ != nil && p.typ.Kind() == reflect.Slice && p.typ.Elem().Kind() == reflect.Uint8: // or Base64
		return json.Unmarshal(value, reflect.New(p.typ).Interface()) != nil
	default:
		return false
	}
}

// jsonField is a field as encoding/json sees it.
type jsonField struct {
	name   string
	typ    reflect.Type
	index  []int
	tagged bool
	quoted bool
}

// jsonFields returns the fields of a struct that JSON can fill, in the order of their declaration, by Go's
// rules of embedding as encoding/json amends them: of several fields with one name the least nested
// wins, then the one with a tag; if that leaves several, none.
func jsonFields(t reflect.Type) []jsonField {
	var all []jsonField
	type embedded struct {
		typ   reflect.Type
		index []int
	}
	visited := map[reflect.Type]bool{}
	count := map[reflect.Type]int{t: 1}
	for level := []embedded{{typ: t}}; len(level) > 0; {
		var next []embedded
		nextCount := map[reflect.Type]int{}
		for _, e := range level {
			if visited[e.typ] {
				continue
			}
			visited[e.typ] = true
			for i := range e.typ.NumField() {
				f, descend, ok := fieldOf(e.typ.Field(i))
				if !ok {
					continue
				}
				f.index = append(slices.Clone(e.index), i)
				if !descend {
					all = append(all, f)
					if count[e.typ] > 1 {
						all = append(all, f) // the type is embedded twice: its fields cancel each other out
					}
					continue
				}
				if nextCount[f.typ]++; nextCount[f.typ] == 1 {
					next = append(next, embedded{typ: f.typ, index: f.index})
				}
			}
		}
		level, count = next, nextCount
	}
	return dominant(all)
}

// fieldOf returns what the tag of a field makes of it; descend says that its own fields count instead.
func fieldOf(sf reflect.StructField) (f jsonField, descend, ok bool) {
	tag := sf.Tag.Get("json")
	bare := sf.Type
	if bare.Name() == "" && bare.Kind() == reflect.Pointer {
		bare = bare.Elem()
	}
	embedded := sf.Anonymous && bare.Kind() == reflect.Struct
	if tag == "-" || !sf.IsExported() && !embedded {
		return f, false, false
	}
	name, options, _ := strings.Cut(tag, ",")
	if !isTagName(name) {
		name = ""
	}
	if name == "" && embedded {
		return jsonField{typ: bare}, true, true
	}
	quoted := isScalar(bare.Kind()) && slices.Contains(strings.Split(options, ","), "string")
	return jsonField{name: cmp.Or(name, sf.Name), typ: sf.Type, tagged: name != "", quoted: quoted}, false, true
}

func isScalar(k reflect.Kind) bool {
	return k == reflect.Bool || k >= reflect.Int && k <= reflect.Float64 || k == reflect.String
}

// isTagName reports whether encoding/json takes the name of a tag.
func isTagName(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

func dominant(all []jsonField) []jsonField {
	slices.SortStableFunc(all, func(a, b jsonField) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(len(a.index), len(b.index)), -cmp.Compare(flag(a.tagged), flag(b.tagged)))
	})
	var kept []jsonField
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].name == all[0].name {
			n++
		}
		if n == 1 || len(all[0].index) != len(all[1].index) || all[0].tagged != all[1].tagged {
			kept = append(kept, all[0])
		}
		all = all[n:]
	}
	slices.SortFunc(kept, func(a, b jsonField) int { return slices.Compare(a.index, b.index) })
	return kept
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
