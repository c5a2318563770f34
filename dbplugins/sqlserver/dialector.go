package sqlserver

import (
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"strings"

	gormsqlserver "gorm.io/driver/sqlserver"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// dialector is gorm's with our pool, our errors, and what T-SQL says otherwise.
type dialector struct{ gormsqlserver.Dialector }

// Initialize implements gorm.Dialector.
func (d *dialector) Initialize(db *gorm.DB) error {
	connector, err := newConnector(d.DSN)
	if err != nil {
		return err
	}
	d.Conn = sql.OpenDB(connector)
	chosen := maps.Clone(db.ClauseBuilders) // by the application
	if err := d.Dialector.Initialize(db); err != nil {
		return d.Translate(err)
	}
	maps.Copy(db.ClauseBuilders, map[string]clause.ClauseBuilder{
		"FROM": buildFrom, "FOR": buildFor, "LIMIT": buildLimit, "SET": buildSet,
	})
	maps.Copy(db.ClauseBuilders, chosen)
	return db.Callback().Create().Replace("gorm:create", create)
}

// QuoteTo implements gorm.Dialector. A dot divides the names of schema, table and column;
// a quote in a name is doubled.
func (d *dialector) QuoteTo(w clause.Writer, name string) {
	for i, part := range strings.Split(name, ".") {
		if i > 0 {
			_ = w.WriteByte('.')
		}
		_ = w.WriteByte('"')
		_, _ = w.WriteString(strings.ReplaceAll(part, `"`, `""`))
		_ = w.WriteByte('"')
	}
}

// DataTypeOf implements gorm.Dialector. The library gives an integer more bytes than it
// needs, writes a decimal as the server does not show it, so that each migration would
// change the column, and leaves a text of a unique index without the length that an index
// needs.
func (d *dialector) DataTypeOf(field *schema.Field) string {
	_, unique := field.TagSettings["UNIQUEINDEX"]
	switch {
	case field.DataType == schema.Int || field.DataType == schema.Uint:
		if field.AutoIncrement {
			return integer(field) + " IDENTITY(1,1)"
		}
		return integer(field)
	case field.DataType == schema.Float && field.Precision > 0:
		return fmt.Sprintf("decimal(%d,%d)", field.Precision, field.Scale)
	case field.DataType == schema.String && field.Size == 0 && unique:
		return "nvarchar(256)"
	case field.DataType == schema.Time && field.Precision == 0:
		return "datetimeoffset(6)"
	default:
		return d.Dialector.DataTypeOf(field)
	}
}

// integer returns the smallest type that holds every value of a field. There is none for
// the upper half of uint64.
func integer(field *schema.Field) string {
	bits := field.Size
	switch {
	case field.DataType == schema.Uint && bits <= 8:
		return "tinyint"
	case field.DataType == schema.Uint:
		bits++ // its values need one more if there is a sign
	}
	switch {
	case bits <= 16:
		return "smallint"
	case bits <= 32:
		return "int"
	default:
		return "bigint"
	}
}

// savepoint is what the server takes for the name of one.
var savepoint = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,31}$`)

// SavePoint implements gorm.SavePointerDialectorInterface. A name has at most 32
// characters.
func (d *dialector) SavePoint(tx *gorm.DB, name string) error {
	return execNamed(tx, "SAVE TRANSACTION ", name)
}

// RollbackTo implements gorm.SavePointerDialectorInterface.
func (d *dialector) RollbackTo(tx *gorm.DB, name string) error {
	return execNamed(tx, "ROLLBACK TRANSACTION ", name)
}

func execNamed(tx *gorm.DB, statement, name string) error {
	if !savepoint.MatchString(name) {
		return fmt.Errorf("sqlserver: %q is no name of a savepoint: want at most 32 letters, digits and underscores", name)
	}
	return tx.Exec(statement + name).Error
}

// Translate implements gorm.ErrorTranslator.
func (d *dialector) Translate(err error) error {
	if err == nil {
		return nil
	}
	return driver.Translate(Driver{}.ErrorKind(err), err, detail(err))
}
