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

// migrator is gorm's, which compares how an entity and the server spell a type, and so
// would change some columns again at every start: char(2) and character(2), numeric(10,
// 2) and numeric(10,2). It also takes the quotes off a comment before it compares that.
type migrator struct{ gormpostgres.Migrator }

// MigrateColumn implements gorm.Migrator.
func (m migrator) MigrateColumn(value any, field *schema.Field, column gorm.ColumnType) error {
	wanted := m.DataTypeOf(field)
	if server, ok := column.ColumnType(); ok && spelling(wanted) == server {
		column = sameType{column, field, wanted}
	}
	if comment, ok := column.Comment(); ok && comment == field.Comment {
		silent := *field
		silent.Comment = ""
		field, column = &silent, noComment{column}
	}
	return m.Migrator.MigrateColumn(value, field, column)
}

// noComment is a column whose comment is as it should be.
type noComment struct{ columnType }

// Comment implements gorm.ColumnType.
func (noComment) Comment() (value string, ok bool) { return "", false }

// columnType has another name than its method.
type columnType = gorm.ColumnType

// sameType is a column that has the type of its field, and says so in the field's words.
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

// Nullable implements gorm.ColumnType. A column that counts is not, whatever its field
// says.
func (c sameType) Nullable() (nullable, ok bool) {
	nullable, ok = c.columnType.Nullable()
	return nullable, ok && !c.field.AutoIncrement
}

// DefaultValue implements gorm.ColumnType. The server doubles the quotes in a text, keeps
// a NULL if that has a length, and gorm hides what a column counts with.
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

// spellings are the server's own names of types. A star is where the numbers in
// parentheses stand.
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

// typeText takes a type apart: its name, the numbers in parentheses, the brackets of an
// array.
var typeText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^([a-z][a-z0-9_ ]*?) ?(\([0-9, ]+\))?( with(?:out)? time zone)? ?((?:\[\])*)$`)
})

// spelling returns a type as the server spells it.
func spelling(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	parts := typeText().FindStringSubmatch(text)
	if parts == nil {
		return text
	}
	name, numbers, array := parts[1]+parts[3], strings.ReplaceAll(parts[2], " ", ""), parts[4]
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
