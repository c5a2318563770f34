package sqlserver

import (
	sqldriver "database/sql/driver"
	"reflect"
	"regexp"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// binary matches the types to which the server does not convert a string, not even NULL.
var binary = regexp.MustCompile(`(?i)^(bytes|(var)?binary|image)\b`)

// holdsBytes reports whether a column has such a type. It returns false if s is nil.
func holdsBytes(s *schema.Schema, column string) bool {
	if s == nil {
		return false
	}
	field := s.LookUpField(column)
	return field != nil && binary.MatchString(string(field.DataType))
}

// typed returns a NULL for a byte column as []byte, because the library declares nil as a
// string.
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

// bytesOf is a Valuer that returns a nil value as []byte.
type bytesOf struct{ sqldriver.Valuer }

// Value implements driver.Valuer.
func (b bytesOf) Value() (sqldriver.Value, error) {
	v, err := b.Valuer.Value()
	if v == nil {
		v = []byte(nil)
	}
	return v, err
}

// typedSet returns the assignments of set with typed values.
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

// buildSet writes the SET clause.
func buildSet(c clause.Clause, builder clause.Builder) {
	set, ok := c.Expression.(clause.Set)
	stmt, isStatement := builder.(*gorm.Statement)
	if ok && isStatement {
		c.Expression = typedSet(stmt.Schema, set)
	}
	c.Build(builder)
}
