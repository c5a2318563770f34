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

// DataTypeOf implements gorm.Dialector. A float32 becomes a DOUBLE, because the servers
// return a FLOAT with six digits in text results. A string in a unique index gets a
// length, because MySQL requires one; gorm sets it for other indexes only.
func (d *dialector) DataTypeOf(field *schema.Field) string {
	switch {
	case field.DataType == schema.Float && field.Precision == 0:
		return "double"
	case field.DataType == schema.Float:
		// as the server reports it
		return fmt.Sprintf("decimal(%d,%d)", field.Precision, field.Scale)
	case field.DataType == schema.String && field.Size == 0 &&
		field.TagSettings["UNIQUEINDEX"] != "":
		return "varchar(191)"
	default:
		return normalizeDecimal(d.Dialector.DataTypeOf(field))
	}
}

// decimals matches the spellings of a decimal type, with or without digits.
var decimals = regexp.MustCompile(
	`(?i)^(?:decimal|numeric|dec|fixed)\b(?:\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?`)

// normalizeDecimal returns a decimal type as the server reports it, and other types
// unchanged.
func normalizeDecimal(name string) string {
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
	m.Migrator.Dialector = d // so that it uses DataTypeOf
	return migrator{m}
}

// migrator is gorm's migrator without needless changes. gorm compares types and defaults
// as text, which would alter some columns at every startup.
type migrator struct{ gormmysql.Migrator }

// GetTypeAliases implements gorm.Migrator.
func (m migrator) GetTypeAliases(name string) []string {
	aliases := slices.Clone(m.Migrator.GetTypeAliases(name))
	switch {
	case name == "double":
		aliases = append(aliases, "real", "float8")
	case name == "longtext" && m.isMariaDB():
		aliases = append(aliases, "json") // a longtext with a check constraint
	}
	return aliases
}

// MigrateColumn implements gorm.Migrator.
func (m migrator) MigrateColumn(value any, field *schema.Field, column gorm.ColumnType) error {
	return m.Migrator.MigrateColumn(value, field, sameDefault{column, field, m.isMariaDB()})
}

func (m migrator) isMariaDB() bool { return strings.Contains(m.ServerVersion, "MariaDB") }

// columnType avoids a conflict between the embedded field and the method ColumnType.
type columnType = gorm.ColumnType

// sameDefault is a column that reports the field's default if both are equivalent.
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
		// gorm writes no DEFAULT clause for an empty default
		return "", c.field.HasDefaultValue && want == "" && c.field.DefaultValueInterface == nil
	case c.sameNumber(text, want), c.sameTime(text, want),
		c.mariaDB && strings.ReplaceAll(text, "''", "'") == want:
		return want, true
	default:
		return text, true
	}
}

// sameNumber reports whether two defaults are the same number. The server stores all
// digits of a decimal.
func (c sameDefault) sameNumber(a, b string) bool {
	if !slices.Contains([]string{"decimal", "double", "float"},
		strings.ToLower(c.DatabaseTypeName())) {
		return false
	}
	x, isX := new(big.Rat).SetString(a)
	y, isY := new(big.Rat).SetString(b)
	return isX && isY && x.Cmp(y) == 0
}

// sameTime reports whether both defaults are the current time with the same precision.
func (c sameDefault) sameTime(a, b string) bool {
	x, isX := c.digits(a)
	y, isY := c.digits(b)
	return isX && isY && x == y
}

var currentTime = regexp.MustCompile(
	`(?i)^(?:current_timestamp|now\(\)|(?:current_timestamp|now)\((\d?)\))$`)

// digits returns the number of fractional digits of a current-time default. If the
// default has no digits, or more digits than its column, MariaDB uses the digits of the
// column, and MySQL rejects the statement.
func (c sameDefault) digits(text string) (n int64, ok bool) {
	match := currentTime.FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	limit, _, _ := c.DecimalSize()
	if n, _ := strconv.ParseInt(match[1], 10, 64); n > 0 {
		return min(n, limit), true
	}
	return limit, true
}
