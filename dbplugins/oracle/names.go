package oracle

import (
	"regexp"
	"strings"
)

// nameParts matches the parts of a qualified name, quoted or not.
var nameParts = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|[^.]+")

// catalogName returns a name as it is stored in the catalog. A quoted name is unchanged.
// A name without an upper-case letter becomes upper case, like an unquoted name in SQL. A
// name with upper-case letters, such as gorm's alias Author__name, retains its case.
func catalogName(name string) string {
	if len(name) > 1 && (name[0] == '"' || name[0] == '`') && name[0] == name[len(name)-1] {
		return clean(name[1 : len(name)-1])
	}
	if name != strings.ToLower(name) {
		return clean(name)
	}
	return clean(strings.ToUpper(name))
}

// clean removes characters that a name cannot contain.
func clean(name string) string { return strings.NewReplacer(`"`, "", "\x00", "").Replace(name) }

// gormName returns a name of the catalog or of a result as gorm expects it.
func gormName(name string) string {
	if name != strings.ToUpper(name) {
		return name
	}
	return strings.ToLower(name)
}

// quoted returns a name, optionally qualified, with quotes for SQL.
func quoted(name string) string {
	parts := nameParts.FindAllString(name, -1)
	for i, part := range parts {
		if part != "*" {
			parts[i] = `"` + catalogName(part) + `"`
		}
	}
	return strings.Join(parts, ".")
}

// splitTable returns the owner and the name of a table as they are stored in the catalog.
// An empty owner means the current schema.
func splitTable(table string) (owner, name string) {
	parts := nameParts.FindAllString(table, -1)
	if len(parts) == 0 {
		return "", ""
	}
	if len(parts) > 1 {
		owner = catalogName(parts[len(parts)-2])
	}
	return owner, catalogName(parts[len(parts)-1])
}
