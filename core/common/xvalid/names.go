package xvalid

import (
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"
)

// nameTags are asked in this order for the name that a client knows a field by.
var nameTags = [...]string{"json", "form", "uri", "header"}

// maxKey is the longest key of a map that is shown in a path.
const maxKey = 32

// fieldName gives the validator the name of a field. The validator asks once for each field of a type
// and keeps the answer. An embedded struct without a name of its own has none, as in JSON.
//
// It is also where a parameter that does not compile is found: when its type is first seen.
func fieldName(f reflect.StructField) string {
	checkParameters(f)
	for _, tag := range nameTags {
		if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != "" && name != "-" {
			return name
		}
	}
	if f.Anonymous && indirect(f.Type).Kind() == reflect.Struct {
		return ""
	}
	return f.Name
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// path returns the dotted path of a failed field, without the name of the struct at the top.
func path(fe validator.FieldError) string {
	p := trimRoot(fe.Namespace(), fe.StructNamespace())
	if p == "" { // an embedded struct itself
		return fe.StructField()
	}
	return maskKeys(p, fe.Value())
}

// trimRoot removes the type's name, which both paths begin with. It may hold dots and brackets where the
// type is generic. An anonymous struct type has no name, and then the paths differ where they begin, or
// hold one name only.
func trimRoot(ns, structNS string) string {
	end, depth := 0, 0
scan:
	for ; end < len(ns); end++ {
		switch ns[end] {
		case '[':
			depth++
		case ']':
			depth--
		case '.':
			if depth == 0 {
				break scan
			}
		}
	}
	if end == len(ns) {
		if end < len(structNS) && structNS[end] == '.' && structNS[:end] == ns {
			return ""
		}
		return ns
	}
	if !strings.HasPrefix(structNS, ns[:end+1]) {
		return ns
	}
	return ns[end+1:]
}

// maskKeys replaces by "*" what a client wrote between brackets, unless it is an index or a plain key of
// a map that is not itself what failed.
func maskKeys(p string, value any) string {
	first := strings.IndexByte(p, '[')
	if first < 0 {
		return p
	}
	if !bracketsMatch(p) {
		return p[:first] + "[*]" // a key holds brackets: what follows it cannot be told
	}
	failed, _ := value.(string)
	var b strings.Builder
	for p != "" {
		name, rest, found := cutBefore(p, '[')
		b.WriteString(name)
		if !found {
			break
		}
		var key string
		key, p, _ = strings.Cut(rest[1:], "]")
		if !plainKey(key) || p == "" && key == failed {
			key = "*"
		}
		b.WriteString("[" + key + "]")
	}
	return b.String()
}

// bracketsMatch reports whether brackets open and close in turn, and a name or nothing follows them.
func bracketsMatch(p string) bool {
	open := false
	for i := range len(p) {
		switch p[i] {
		case '[', ']':
			if open == (p[i] == '[') {
				return false
			}
			open = !open
		case '.':
		default:
			if i > 0 && p[i-1] == ']' {
				return false
			}
		}
	}
	return !open
}

func plainKey(key string) bool {
	if key == "" || len(key) > maxKey {
		return false
	}
	for i := range len(key) {
		if c := key[i]; !isWord(c) && c != '-' {
			return false
		}
	}
	return true
}

// isWord reports whether c is one of [A-Za-z0-9_].
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// leaf returns the last name of a path, for the text of a message.
func leaf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// namedPath returns the name of a failed field by one tag, for request parts that are flat: a field of a
// nested struct is known by its own name alone. It is empty where the field cannot be found.
func namedPath(root reflect.Type, tag string, fe validator.FieldError) string {
	root = indirect(root)
	goPath := fe.StructNamespace()
	if name := root.Name(); name != "" {
		goPath = strings.TrimPrefix(goPath, name+".")
	}
	t := root
	var field reflect.StructField
	indexes := ""
	for goPath != "" {
		name, rest, _ := strings.Cut(goPath, ".")
		name, indexes, _ = cutBefore(name, '[')
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return ""
		}
		var ok bool
		if field, ok = t.FieldByName(name); !ok {
			return ""
		}
		t, goPath = field.Type, rest
	}
	name, _, _ := strings.Cut(field.Tag.Get(tag), ",")
	if name == "" || name == "-" {
		return ""
	}
	return maskKeys(name+indexes, fe.Value())
}

// cutBefore splits s before the first c.
func cutBefore(s string, c byte) (before, after string, found bool) {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i], s[i:], true
	}
	return s, "", false
}
