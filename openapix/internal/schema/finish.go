package schema

import (
	"bytes"
	"cmp"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plinthgo/plinth/openapix/internal/tree"
)

// Finish names the components and returns them, sorted by name. The error joins the
// errors of the developer in the types.
//
// The schemas of a type in requests and responses are one component if they are equal.
// Otherwise the name of the request's schema has the suffix Input.
func (b *Builder) Finish() (list []*Component, errs []error) {
	b.nameComponents(b.different())
	byName := map[string]*Component{}
	for _, k := range b.keys {
		c := b.components[k]
		byName[c.Name] = cmp.Or(byName[c.Name], c)
	}
	list = slices.Clone(b.defined)
	for _, c := range byName {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *Component) int { return cmp.Compare(a.Name, b.Name) })
	return list, distinct(b.errs)
}

// distinct removes errors with the text of an earlier error: a type can be used in both
// directions.
func distinct(errs []error) (list []error) {
	for _, err := range errs {
		if !slices.ContainsFunc(list, func(e error) bool { return e.Error() == err.Error() }) {
			list = append(list, err)
		}
	}
	return list
}

// different returns the types whose schemas in requests and responses differ, or refer to
// such a type.
func (b *Builder) different() map[reflect.Type]bool {
	types := map[*Component]reflect.Type{}
	first := map[key]int{}
	for i, k := range b.keys {
		c := b.components[k]
		types[c] = k.typ
		k.dir = Response // names are equal in both directions
		if _, ok := first[k]; !ok {
			first[k] = i
		}
		c.Name = strconv.Itoa(first[k])
	}
	differs := map[reflect.Type]bool{}
	var pairs [][2]*Component
	for _, k := range b.keys {
		response := b.components[key{k.typ, Response, whole}]
		request := b.components[key{k.typ, Request, whole}]
		if k.dir != Response || request == nil {
			continue
		}
		pairs = append(pairs, [2]*Component{response, request})
		x, _ := tree.Append(nil, response.Schema.Tree())
		y, _ := tree.Append(nil, request.Schema.Tree())
		differs[k.typ] = !bytes.Equal(x, y)
	}
	for changed := true; changed; {
		changed = false
		for _, pair := range pairs {
			t := types[pair[0]]
			if !differs[t] && pair[0].Schema.refers(func(c *Component) bool {
				return differs[types[c]]
			}) {
				differs[t], changed = true, true
			}
		}
	}
	return differs
}

// refers reports whether the schema refers to a component for which is returns true.
func (s *Schema) refers(is func(*Component) bool) bool {
	if s == nil {
		return false
	}
	inner := slices.Concat(s.AllOf, s.AnyOf,
		[]*Schema{s.Items, s.AdditionalProperties, s.PropertyNames, s.Not})
	for _, p := range s.Properties {
		inner = append(inner, p.Schema)
	}
	return s.Ref != nil && is(s.Ref) ||
		slices.ContainsFunc(inner, func(s *Schema) bool { return s.refers(is) })
}

// nameComponents sets the names of all components. If types of several packages have one
// name, the name of the package precedes it.
func (b *Builder) nameComponents(differs map[reflect.Type]bool) {
	users := map[string][]reflect.Type{} // types by name
	taken := map[string]key{}
	for _, c := range b.defined {
		users[c.Name], taken[c.Name] = []reflect.Type{nil}, key{}
	}
	for _, k := range b.keys {
		name := k.suffixed(typeName(k.typ))
		if !slices.Contains(users[name], k.typ) {
			users[name] = append(users[name], k.typ)
		}
	}
	for _, k := range b.keys {
		name := k.suffixed(typeName(k.typ))
		if len(users[name]) > 1 {
			name = k.suffixed(packageName(k.typ) + typeName(k.typ))
		}
		if k.dir == Request && k.part == whole && differs[k.typ] {
			name += "Input"
		}
		b.components[k].Name = free(taken, name, k)
	}
}

// free returns the name, or the name with a number if another type has it.
func free(taken map[string]key, name string, k key) string {
	unique := name
	for i := 2; ; i++ {
		if other, ok := taken[unique]; !ok || other.typ == k.typ && other.part == k.part {
			taken[unique] = k
			return unique
		}
		unique = name + strconv.Itoa(i)
	}
}

// suffixed adds the suffix of the part to the name of a type.
func (k key) suffixed(name string) string {
	return name + [...]string{whole: "", bodyPart: "Body", formPart: "Form"}[k.part]
}

// packageName returns the last element of the import path of a type as an identifier:
// ShopTest for shop_test.
func packageName(t reflect.Type) string {
	var name strings.Builder
	for word := range strings.FieldsFuncSeq(path.Base(t.PkgPath()), isOther) {
		name.WriteString(upperFirst(word))
	}
	return name.String()
}

func isOther(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// typeName returns the name of a type as an identifier: PageResponseUser for
// PageResponse[example.com/shop.User].
func typeName(t reflect.Type) string {
	name, arguments, _ := strings.Cut(t.Name(), "[")
	name = upperFirst(name)
	for argument := range strings.FieldsFuncSeq(arguments, isSeparator) {
		argument = argument[strings.LastIndexByte(argument, '/')+1:]
		name += upperFirst(argument[strings.LastIndexByte(argument, '.')+1:])
	}
	return identifier(name)
}

func isSeparator(r rune) bool { return strings.ContainsRune("[]*, ", r) }

// identifier removes the characters that a name of a component cannot contain.
func identifier(name string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' {
			return r
		}
		return -1
	}, name)
}

func upperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
