package page

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reserved are endings of what the site makes of a page: a page or a folder with such a
// name would stand in its place.
var reserved = []string{".html", ".md", ".mdx"}

// unfit says why a file's name, and those of its folders, cannot be an address of the
// site; it is empty where they can.
func unfit(file string) string {
	names := strings.Split(strings.TrimSuffix(file, ".md"), "/")
	if slices.Contains(names[:len(names)-1], "index") {
		return `a folder has the name "index", which is that of its page`
	}
	for _, name := range names {
		if i := strings.IndexFunc(name, isOdd); i >= 0 {
			r, _ := utf8.DecodeRuneInString(name[i:])
			return fmt.Sprintf("%q has %+q, but a name has letters, digits, '-', '_' and '.' only",
				name, r)
		}
		if ending := strings.ToLower(path.Ext(name)); slices.Contains(reserved, ending) {
			return fmt.Sprintf("%q ends in %s, as files that the site makes", name, ending)
		}
	}
	return ""
}

// isOdd tells of characters that an address cannot hold as they are, or that nobody sees
// in it.
func isOdd(r rune) bool {
	if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return true
	}
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) &&
		!strings.ContainsRune("-_.", r)
}
