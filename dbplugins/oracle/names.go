package oracle

import (
	"regexp"
	"strings"
)

// nameParts are the parts of a name: quoted ones, and what stands between the dots.
var nameParts = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|[^.]+")

// raised returns a name as the catalog has it: a quoted one as it is, one without an
// upper-case letter in upper case, as if it stood unquoted in SQL. A name with both, such
// as gorm's alias Author__name, keeps its case.
func raised(name string) string {
	if len(name) > 1 && (name[0] == '"' || name[0] == '`') && name[0] == name[len(name)-1] {
		return clean(name[1 : len(name)-1])
	}
	if name != strings.ToLower(name) {
		return clean(name)
	}
	return clean(strings.ToUpper(name))
}

// clean removes what no name can hold, and which would end a quoted one.
func clean(name string) string { return strings.NewReplacer(`"`, "", "\x00", "").Replace(name) }

// lowered returns a name of the catalog, or of a result, as gorm knows it.
func lowered(name string) string {
	if name != strings.ToUpper(name) {
		return name
	}
	return strings.ToLower(name)
}

// quoted returns a name, or several with dots between them, as it stands in SQL.
func quoted(name string) string {
	parts := nameParts.FindAllString(name, -1)
	for i, part := range parts {
		if part != "*" {
			parts[i] = `"` + raised(part) + `"`
		}
	}
	return strings.Join(parts, ".")
}

// split returns the owner and the name of a table as the catalog has them; no owner is
// the current schema.
func split(table string) (owner, name string) {
	parts := nameParts.FindAllString(table, -1)
	if len(parts) == 0 {
		return "", ""
	}
	if len(parts) > 1 {
		owner = raised(parts[len(parts)-2])
	}
	return owner, raised(parts[len(parts)-1])
}
