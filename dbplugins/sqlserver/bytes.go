package sqlserver

import (
	sqldriver "database/sql/driver"
	"reflect"
	"regexp"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// binary are the types of columns to which the server converts no text, not even a NULL.
var binary = regexp.MustCompile(`(?i)^(bytes|(var)?binary|image)\b`)

// holdsBytes reports whether a column is of such a type. Without an entity that is
// unknown.
func holdsBytes(s *schema.Schema, column string) bool {
	if s == nil {
		return false
	}
	field := s.LookUpField(column)
	return field != nil && binary.MatchString(string(field.DataType))
}

// typed gives NULL for a column of bytes its type: the library declares a nil as a text.
func typed(value any) any {
	if rv := reflect.ValueOf(value); !rv.IsValid() || rv.Kind() == reflect.Pointer && rv.IsNil() {
		return []byte(nil)
	}
	switch v := value.(type) {
	case gorm.Valuer, clause.Expression:
		return value
	case sqldriver.Valuer:
		return bytesOf{v}
	default:
		return value
	}
}

// bytesOf is a value of which only the driver will know whether it is NULL.
type bytesOf struct{ sqldriver.Valuer }

// Value implements driver.Valuer.
func (b bytesOf) Value() (sqldriver.Value, error) {
	v, err := b.Valuer.Value()
	if v == nil {
		v = []byte(nil)
	}
	return v, err
}

// typedSet is a set of assignments with typed values.
func typedSet(s *schema.Schema, set clause.Set) clause.Set {
	all := make(clause.Set, len(set))
	for i, a := range set {
		if holdsBytes(s, a.Column.Name) {
			a.Value = typed(a.Value)
		}
		all[i] = a
	}
	return all
}

// buildSet writes SET.
func buildSet(c clause.Clause, builder clause.Builder) {
	set, ok := c.Expression.(clause.Set)
	stmt, isStatement := builder.(*gorm.Statement)
	if ok && isStatement {
		c.Expression = typedSet(stmt.Schema, set)
	}
	c.Build(builder)
}
