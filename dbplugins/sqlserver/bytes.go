package sqlserver

import (
	sqldriver "database/sql/driver"
	"reflect"
	"regexp"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// binary matches the types to which the server does not convert a string, not even a NULL
// string.
var binary = regexp.MustCompile(`(?i)^(bytes|(var)?binary|image)\b`)

// isBinary reports whether a column has a binary type. It returns false if s is nil.
func isBinary(s *schema.Schema, column string) bool {
	if s == nil {
		return false
	}
	field := s.LookUpField(column)
	return field != nil && binary.MatchString(string(field.DataType))
}

// binaryValue returns the value of a binary column, and a nil value as a nil []byte. The
// library would declare nil as a string.
func binaryValue(value any) any {
	if rv := reflect.ValueOf(value); !rv.IsValid() || rv.Kind() == reflect.Pointer && rv.IsNil() {
		return []byte(nil)
	}
	switch v := value.(type) {
	case gorm.Valuer, clause.Expression:
		return value
	case sqldriver.Valuer:
		return binaryValuer{v}
	default:
		return value
	}
}

// binaryValuer is a Valuer that returns a nil value as a nil []byte.
type binaryValuer struct{ sqldriver.Valuer }

// Value implements driver.Valuer.
func (b binaryValuer) Value() (sqldriver.Value, error) {
	v, err := b.Valuer.Value()
	if v == nil {
		v = []byte(nil)
	}
	return v, err
}

// binarySet returns the assignments of set, with binaryValue applied to binary columns.
func binarySet(s *schema.Schema, set clause.Set) clause.Set {
	all := make(clause.Set, len(set))
	for i, a := range set {
		if isBinary(s, a.Column.Name) {
			a.Value = binaryValue(a.Value)
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
		c.Expression = binarySet(stmt.Schema, set)
	}
	c.Build(builder)
}
