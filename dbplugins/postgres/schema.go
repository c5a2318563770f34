package postgres

import (
	"regexp"
	"strings"
	"sync"

	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Migrator implements gorm.Dialector.
func (d *dialector) Migrator(db *gorm.DB) gorm.Migrator {
	m, ok := d.Dialector.Migrator(db).(gormpostgres.Migrator)
	if !ok {
		return d.Dialector.Migrator(db)
	}
	return migrator{m}
}

// migrator is gorm's migrator without needless changes. gorm compares the spellings of
// types, such as numeric(10, 2) and numeric(10,2), and would alter some columns at every
// startup. It also strips the quotes of a comment before it compares the comment.
type migrator struct{ gormpostgres.Migrator }

// MigrateColumn implements gorm.Migrator.
func (m migrator) MigrateColumn(value any, field *schema.Field, column gorm.ColumnType) error {
	wanted := m.DataTypeOf(field)
	if server, ok := column.ColumnType(); ok && spelling(wanted) == server {
		column = sameType{column, field, wanted}
	}
	if comment, ok := column.Comment(); ok && comment == field.Comment {
		plain := *field
		plain.Comment = ""
		field, column = &plain, noComment{column}
	}
	return m.Migrator.MigrateColumn(value, field, column)
}

// noComment is a column whose comment is already correct.
type noComment struct{ columnType }

// Comment implements gorm.ColumnType.
func (noComment) Comment() (value string, ok bool) { return "", false }

// columnType avoids a conflict between the embedded field and the method ColumnType.
type columnType = gorm.ColumnType

// sameType is a column that reports its type in the spelling of the field.
type sameType struct {
	columnType

	field  *schema.Field
	wanted string
}

// DatabaseTypeName implements gorm.ColumnType.
func (c sameType) DatabaseTypeName() string { return c.wanted }

// Length implements gorm.ColumnType.
func (c sameType) Length() (int64, bool) { return int64(c.field.Size), true }

// DecimalSize implements gorm.ColumnType.
func (sameType) DecimalSize() (precision, scale int64, ok bool) { return 0, 0, false }

// Nullable implements gorm.ColumnType. An auto-increment column is never nullable.
func (c sameType) Nullable() (nullable, ok bool) {
	nullable, ok = c.columnType.Nullable()
	return nullable, ok && !c.field.AutoIncrement
}

// DefaultValue implements gorm.ColumnType. The server doubles quotes in a string and
// stores the default NULL of a type with a length. gorm hides the default of an
// auto-increment column.
func (c sameType) DefaultValue() (value string, ok bool) {
	value, ok = c.columnType.DefaultValue()
	if c.field.DefaultValueInterface == nil && strings.EqualFold(c.field.DefaultValue, "NULL") &&
		value == "NULL" {
		return "", false
	}
	if plain := strings.ReplaceAll(value, "''", "'"); plain == c.field.DefaultValue {
		return plain, ok || c.field.AutoIncrement
	}
	return value, ok
}

// spellings maps type names to the server's names. A star marks the position of the
// numbers in parentheses.
var spellings = map[string]string{
	"bit": "bit*", "varbit": "bit varying*", "bool": "boolean",
	"char": "character*", "character": "character*", "bpchar": "character*",
	"varchar":      "character varying*",
	"char varying": "character varying*", "nchar": "character*",
	"nchar varying": "character varying*",
	"national char": "character*", "national char varying": "character varying*",
	"national character": "character*", "national character varying": "character varying*",
	"dec": "numeric*", "decimal": "numeric*", "numeric": "numeric*",
	"int2": "smallint", "int4": "integer", "int": "integer", "int8": "bigint",
	"smallserial": "smallint", "serial": "integer", "bigserial": "bigint",
	"float4": "real", "float8": "double precision", "float": "double precision",
	"time": "time* without time zone", "timetz": "time* with time zone",
	"time with time zone":      "time* with time zone",
	"timestamp":                "timestamp* without time zone",
	"timestamptz":              "timestamp* with time zone",
	"timestamp with time zone": "timestamp* with time zone",
}

// typeText matches a type: its name, the numbers in parentheses, and the brackets of an
// array.
var typeText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^([a-z][a-z0-9_ ]*?) ?(\([0-9, ]+\))?( with(?:out)? time zone)? ?((?:\[\])*)$`)
})

// spelling returns a type in the server's spelling.
func spelling(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	match := typeText().FindStringSubmatch(text)
	if match == nil {
		return text
	}
	name, array := match[1]+match[3], match[4]
	numbers := strings.ReplaceAll(match[2], " ", "")
	server, known := spellings[strings.TrimSuffix(name, " without time zone")]
	switch {
	case !known:
		return name + numbers + array
	case server == "numeric*" && numbers != "" && !strings.Contains(numbers, ","):
		numbers = strings.TrimSuffix(numbers, ")") + ",0)"
	case server == "character*" && numbers == "":
		numbers = "(1)"
	}
	return strings.Replace(server, "*", numbers, 1) + array
}
