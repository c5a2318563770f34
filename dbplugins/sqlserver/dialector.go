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

// dialector is gorm's dialector with the pool, the errors and the T-SQL of this package.
type dialector struct{ gormsqlserver.Dialector }

// Initialize implements gorm.Dialector.
func (d *dialector) Initialize(db *gorm.DB) error {
	connector, err := newConnector(d.DSN)
	if err != nil {
		return err
	}
	d.Conn = sql.OpenDB(connector)
	custom := maps.Clone(db.ClauseBuilders) // set by the application
	if err := d.Dialector.Initialize(db); err != nil {
		return d.Translate(err)
	}
	maps.Copy(db.ClauseBuilders, map[string]clause.ClauseBuilder{
		"FROM": buildFrom, "FOR": buildFor, "LIMIT": buildLimit, "SET": buildSet,
	})
	maps.Copy(db.ClauseBuilders, custom)
	return db.Callback().Create().Replace("gorm:create", create)
}

// QuoteTo implements gorm.Dialector. Dots separate the schema, table and column. Quotes
// in a name are doubled.
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

// DataTypeOf implements gorm.Dialector. It uses the smallest type for integers. Decimals
// have the server's spelling; otherwise each migration would alter the column. A string
// in a unique index has a length, which the index requires.
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

// integer returns the smallest type for the values of a field. uint64 becomes bigint,
// which cannot store values above math.MaxInt64.
func integer(field *schema.Field) string {
	bits := field.Size
	switch {
	case field.DataType == schema.Uint && bits <= 8:
		return "tinyint"
	case field.DataType == schema.Uint:
		bits++ // signed types need one more bit
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

// savepoint matches valid savepoint names.
var savepoint = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,31}$`)

// SavePoint implements gorm.SavePointerDialectorInterface.
func (d *dialector) SavePoint(tx *gorm.DB, name string) error {
	return execNamed(tx, "SAVE TRANSACTION ", name)
}

// RollbackTo implements gorm.SavePointerDialectorInterface.
func (d *dialector) RollbackTo(tx *gorm.DB, name string) error {
	return execNamed(tx, "ROLLBACK TRANSACTION ", name)
}

func execNamed(tx *gorm.DB, statement, name string) error {
	if !savepoint.MatchString(name) {
		return fmt.Errorf("sqlserver: invalid savepoint name %q: "+
			"want at most 32 letters, digits and underscores", name)
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
