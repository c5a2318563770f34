package xvalid

import (
	"reflect"
	"strings"
	"unicode"

	"github.com/go-playground/validator/v10"

	"github.com/plinthgo/plinth/core/internal/phrase"
)

// nameTags are asked in this order for the name that a client knows a field by.
var nameTags = [...]string{"json", "form", "uri", "header"}

// fieldName gives the validator the name of a field. The validator asks once for each
// field of a type and keeps the answer. An embedded struct without a name of its own has
// none, as in JSON.
//
// It is also where a parameter that does not parse is found: when its type is first seen.
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

// path returns the dotted path of a failed field, without the name of the struct at the
// top.
func path(fe validator.FieldError) string {
	p := trimRoot(fe.Namespace(), fe.StructNamespace())
	if p == "" { // an embedded struct itself
		return fe.StructField()
	}
	return maskKeys(p, fe.Value())
}

// trimRoot removes the type's name, which both paths begin with. It has dots in brackets
// if the type is generic. An anonymous struct type has no name, and then the paths differ
// where they begin.
func trimRoot(ns, structNS string) string {
	if rest, ok := strings.CutPrefix(structNS, ns); ok && strings.HasPrefix(rest, ".") {
		return ""
	}
	end := strings.IndexByte(ns, '.')
	if open := strings.IndexByte(ns, '['); open >= 0 && open < end {
		end = strings.Index(ns, "].") + 1
	}
	if end <= 0 || !strings.HasPrefix(structNS, ns[:end+1]) {
		return ns
	}
	return ns[end+1:]
}

// maxPath is the longest path with brackets that is shown.
const maxPath = 256

// maskKeys replaces by "*" what a client wrote between brackets, unless it is an index or
// a plain key of a map that is not itself what failed.
func maskKeys(p string, value any) string {
	plain, brackets, found := strings.Cut(p, "[")
	if !found {
		return p
	}
	if failed, ok := value.(string); ok {
		if before, last := strings.CutSuffix(p, "["+failed+"]"); last {
			return maskKeys(before, nil) + "[*]"
		}
	}
	masked, follows := plain, ""
	for part := range strings.SplitSeq(brackets, "[") {
		key, after, closed := strings.Cut(part, "]")
		if !closed || strings.Contains(after, "]") || after != "" && after[0] != '.' ||
			strings.ContainsFunc(follows, noName) {
			return plain + "[*]" // a key holds brackets: what follows it cannot be told
		}
		masked += "[" + phrase.Shown(key) + "]" + after
		if len(masked) > maxPath {
			return plain + "[*]"
		}
		follows = after
	}
	return masked
}

// noName reports whether a character belongs to no path of names.
func noName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
}

// leaf returns the last name of a path, for the text of a message.
func leaf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// namedPath returns the name of a failed field by one tag, for request parts that are
// flat: a field of a nested struct is known by its own name alone. It is empty where the
// field cannot be found.
func namedPath(root reflect.Type, tag string, fe validator.FieldError) string {
	t := indirect(root)
	goPath := strings.TrimPrefix(fe.StructNamespace(), t.Name()+".")
	var name, indexes string
	for segment := range strings.SplitSeq(goPath, ".") {
		goName, _, _ := strings.Cut(segment, "[")
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array ||
			t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return ""
		}
		field, ok := t.FieldByName(goName)
		if !ok {
			return ""
		}
		name, _, _ = strings.Cut(field.Tag.Get(tag), ",")
		indexes = strings.TrimPrefix(segment, goName)
		t = field.Type
	}
	if name == "" || name == "-" {
		return ""
	}
	return maskKeys(name+indexes, fe.Value())
}
