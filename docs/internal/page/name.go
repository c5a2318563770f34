package page

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reserved are the extensions of generated files. A page or directory with such an
// extension would conflict with them.
var reserved = []string{".html", ".md", ".mdx"}

// invalidName returns the reason why a file path cannot be an address of the site, or "".
func invalidName(file string) string {
	names := strings.Split(strings.TrimSuffix(file, ".md"), "/")
	if slices.Contains(names[:len(names)-1], "index") {
		return `a directory must not have the name "index" of its page`
	}
	for _, name := range names {
		if i := strings.IndexFunc(name, isInvalid); i >= 0 {
			r, _ := utf8.DecodeRuneInString(name[i:])
			return fmt.Sprintf(
				"%q has %+q, but a name may only contain letters, digits, '-', '_' and '.'",
				name, r)
		}
		if ending := strings.ToLower(path.Ext(name)); slices.Contains(reserved, ending) {
			return fmt.Sprintf("%q ends in %s, like files that the site generates", name, ending)
		}
	}
	return ""
}

// isInvalid reports whether an address cannot contain r unescaped, or r is invisible.
func isInvalid(r rune) bool {
	if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return true
	}
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) &&
		!strings.ContainsRune("-_.", r)
}
