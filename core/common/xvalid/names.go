package xvalid

import (
	"reflect"
	"strings"
	"unicode"

	"github.com/go-playground/validator/v10"

	"github.com/plinthgo/plinth/core/internal/phrase"
)

// nameTags are the tags for the client-side name of a field, by priority.
var nameTags = [...]string{"json", "form", "uri", "header"}

// fieldName returns the name of a field for the validator, which caches it by type. An
// embedded struct without a name has no name, as in JSON.
//
// It also checks the parameters in the tag, when the validator first sees the type.
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

// element returns the type of the values in pointers, lists and maps, at any depth.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array ||
		t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// path returns the dotted path of a failed field, without the name of the root struct.
func path(fe validator.FieldError) string {
	p := trimRoot(fe.Namespace(), fe.StructNamespace())
	if p == "" { // an embedded struct
		return fe.StructField()
	}
	return maskKeys(p, fe.Value())
}

// trimRoot removes the name of the root type, the prefix of both paths. The name of a
// generic type contains dots in brackets. An anonymous struct type has no name, so its
// paths may differ from the start.
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

// maxPath is the maximum length of a path with brackets.
const maxPath = 256

// maskKeys replaces client input between brackets with "*". It does not replace indexes,
// nor plain keys of a map unless the key itself failed.
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
			strings.ContainsFunc(follows, isUnnameable) {
			return plain + "[*]" // a key contains brackets, so the rest is ambiguous
		}
		masked += "[" + phrase.Shown(key) + "]" + after
		if len(masked) > maxPath {
			return plain + "[*]"
		}
		follows = after
	}
	return masked
}

// isUnnameable reports whether a character cannot occur in a path of names.
func isUnnameable(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
}

// leaf returns the last name of a path.
func leaf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// goPath returns the Go path of a failed field in root, without the indexes of elements.
func goPath(root reflect.Type, fe validator.FieldError) string {
	path := strings.TrimPrefix(fe.StructNamespace(), indirect(root).Name()+".")
	segments := strings.Split(path, ".")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, "[")
	}
	return strings.Join(segments, ".")
}

// indexes returns the indexes of the failed element in its field, in brackets.
func indexes(fe validator.FieldError) string {
	_, after, found := strings.Cut(fe.StructField(), "[")
	if !found {
		return ""
	}
	return "[" + after
}

// namedPath returns the name of a failed field in one tag. It is for flat request parts,
// in which the name of a nested field has no prefix. It returns "" if the field is not
// found.
func namedPath(root reflect.Type, tag string, fe validator.FieldError) string {
	t := indirect(root)
	goPath := strings.TrimPrefix(fe.StructNamespace(), t.Name()+".")
	var name, indexes string
	for segment := range strings.SplitSeq(goPath, ".") {
		goName, _, _ := strings.Cut(segment, "[")
		if t = element(t); t.Kind() != reflect.Struct {
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
