package mysql

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// DataTypeOf implements gorm.Dialector. The servers write a FLOAT with six digits into the text that they answer with, so
// that a float32 would come back as another one. Only MariaDB has unique indexes of texts without a length; gorm gives one
// to those of other indexes.
func (d *dialector) DataTypeOf(field *schema.Field) string {
	switch {
	case field.DataType == schema.Float && field.Precision == 0:
		return "double"
	case field.DataType == schema.Float:
		return fmt.Sprintf("decimal(%d,%d)", field.Precision, field.Scale) // as the server writes it
	case field.DataType == schema.String && field.Size == 0 && field.TagSettings["UNIQUEINDEX"] != "":
		return "varchar(191)"
	case strings.HasPrefix(string(field.DataType), "numeric"):
		return "decimal" + strings.TrimPrefix(string(field.DataType), "numeric") // again
	default:
		return d.Dialector.DataTypeOf(field)
	}
}

// Migrator implements gorm.Dialector.
func (d *dialector) Migrator(db *gorm.DB) gorm.Migrator {
	m, ok := d.Dialector.Migrator(db).(gormmysql.Migrator)
	if !ok {
		return d.Dialector.Migrator(db)
	}
	m.Migrator.Dialector = d // which knows our types
	return migrator{m}
}

// migrator is gorm's, which compares texts and so would change some columns again at every start.
type migrator struct{ gormmysql.Migrator }

// GetTypeAliases implements gorm.Migrator.
func (m migrator) GetTypeAliases(name string) []string {
	aliases := slices.Clone(m.Migrator.GetTypeAliases(name))
	switch {
	case name == "double":
		aliases = append(aliases, "real", "float8")
	case name == "longtext" && strings.Contains(m.ServerVersion, "MariaDB"):
		aliases = append(aliases, "json") // a longtext with a check
	}
	return aliases
}

// MigrateColumn implements gorm.Migrator.
func (m migrator) MigrateColumn(value any, field *schema.Field, column gorm.ColumnType) error {
	return m.Migrator.MigrateColumn(value, field, sameDefault{column, field})
}

// columnType has another name than its method.
type columnType = gorm.ColumnType

// sameDefault is a column whose default is the field's where both mean the same.
type sameDefault struct {
	columnType

	field *schema.Field
}

// DefaultValue implements gorm.ColumnType.
func (c sameDefault) DefaultValue() (text string, ok bool) {
	text, ok = c.columnType.DefaultValue()
	want := c.field.DefaultValue
	switch {
	case !ok:
		return "", c.field.HasDefaultValue && want == "" && c.field.DefaultValueInterface == nil // gorm writes none for that
	case c.sameNumber(text, want), sameTime(text, want):
		return want, true
	default:
		return text, true
	}
}

// sameNumber reports whether the two are one number: the server writes all digits of a decimal.
func (c sameDefault) sameNumber(a, b string) bool {
	if !slices.Contains([]string{"decimal", "double", "float"}, strings.ToLower(c.DatabaseTypeName())) {
		return false
	}
	x, isX := new(big.Rat).SetString(a)
	y, isY := new(big.Rat).SetString(b)
	return isX && isY && x.Cmp(y) == 0
}

// sameTime reports whether both are the time at which a row is written.
func sameTime(a, b string) bool {
	plain := func(s string) string {
		s = strings.ToLower(s)
		if rest, ok := strings.CutPrefix(s, "now("); ok {
			s = "current_timestamp(" + rest
		}
		return strings.TrimSuffix(s, "()")
	}
	return plain(a) == plain(b) && strings.HasPrefix(plain(a), "current_timestamp")
}
