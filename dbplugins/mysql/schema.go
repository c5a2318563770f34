package mysql

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// DataTypeOf implements gorm.Dialector. The servers write a FLOAT with six digits into
// the text that they answer with, so that a float32 would come back as another one. Only
// MariaDB has unique indexes of texts without a length; gorm gives one to those of other
// indexes.
func (d *dialector) DataTypeOf(field *schema.Field) string {
	switch {
	case field.DataType == schema.Float && field.Precision == 0:
		return "double"
	case field.DataType == schema.Float:
		// as the server writes it
		return fmt.Sprintf("decimal(%d,%d)", field.Precision, field.Scale)
	case field.DataType == schema.String && field.Size == 0 &&
		field.TagSettings["UNIQUEINDEX"] != "":
		return "varchar(191)"
	default:
		return asWritten(d.Dialector.DataTypeOf(field))
	}
}

// decimals are the ways to write a type of decimals, with digits or without.
var decimals = regexp.MustCompile(
	`(?i)^(?:decimal|numeric|dec|fixed)\b(?:\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?`)

// asWritten is a type in the words of the server, if it is one of decimals.
func asWritten(name string) string {
	digits := decimals.FindStringSubmatch(name)
	if digits == nil {
		return name
	}
	return fmt.Sprintf("decimal(%s,%s)", cmp.Or(digits[1], "10"), cmp.Or(digits[2], "0")) +
		name[len(digits[0]):]
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

// migrator is gorm's, which compares texts and so would change some columns again at
// every start.
type migrator struct{ gormmysql.Migrator }

// GetTypeAliases implements gorm.Migrator.
func (m migrator) GetTypeAliases(name string) []string {
	aliases := slices.Clone(m.Migrator.GetTypeAliases(name))
	switch {
	case name == "double":
		aliases = append(aliases, "real", "float8")
	case name == "longtext" && m.isMariaDB():
		aliases = append(aliases, "json") // a longtext with a check
	}
	return aliases
}

// MigrateColumn implements gorm.Migrator.
func (m migrator) MigrateColumn(value any, field *schema.Field, column gorm.ColumnType) error {
	return m.Migrator.MigrateColumn(value, field, sameDefault{column, field, m.isMariaDB()})
}

func (m migrator) isMariaDB() bool { return strings.Contains(m.ServerVersion, "MariaDB") }

// columnType has another name than its method.
type columnType = gorm.ColumnType

// sameDefault is a column whose default is the field's if both mean the same.
type sameDefault struct {
	columnType

	field   *schema.Field
	mariaDB bool
}

// DefaultValue implements gorm.ColumnType.
func (c sameDefault) DefaultValue() (text string, ok bool) {
	text, ok = c.columnType.DefaultValue()
	want := c.field.DefaultValue
	switch {
	case !ok:
		// gorm writes none for that
		return "", c.field.HasDefaultValue && want == "" && c.field.DefaultValueInterface == nil
	case c.sameNumber(text, want), c.sameTime(text, want), c.mariaDB &&
		strings.ReplaceAll(text, "''", "'") == want:
		return want, true
	default:
		return text, true
	}
}

// sameNumber reports whether the two are one number: the server writes all digits of a
// decimal.
func (c sameDefault) sameNumber(a, b string) bool {
	if !slices.Contains([]string{"decimal", "double", "float"},
		strings.ToLower(c.DatabaseTypeName())) {
		return false
	}
	x, isX := new(big.Rat).SetString(a)
	y, isY := new(big.Rat).SetString(b)
	return isX && isY && x.Cmp(y) == 0
}

// sameTime reports whether both are the time at which a row is written, with as many
// digits.
func (c sameDefault) sameTime(a, b string) bool {
	x, isX := c.digits(a)
	y, isY := c.digits(b)
	return isX && isY && x == y
}

var currentTime = regexp.MustCompile(
	`(?i)^(?:current_timestamp|now\(\)|(?:current_timestamp|now)\((\d?)\))$`)

// digits returns those of the seconds in the current time. MariaDB takes those of the
// column if a default has none or more, and writes them down; MySQL refuses such a
// default.
func (c sameDefault) digits(text string) (n int64, ok bool) {
	found := currentTime.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	most, _, _ := c.DecimalSize()
	if n, _ := strconv.ParseInt(found[1], 10, 64); n > 0 {
		return min(n, most), true
	}
	return most, true
}
