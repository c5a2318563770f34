package oracle

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"

	go_ora "github.com/sijms/go-ora/v2"
	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// dialector implements gorm.Dialector, gorm.ErrorTranslator and
// gorm.SavePointerDialectorInterface.
type dialector struct {
	dsn       string
	open      opener // nil uses go-ora; set by tests
	connector *connector
}

// Name implements gorm.Dialector.
func (*dialector) Name() string { return Name }

// Initialize implements gorm.Dialector. It does not connect.
func (d *dialector) Initialize(db *gorm.DB) error {
	if d.open == nil {
		dsn, config, err := parse(d.dsn)
		if err != nil {
			return err
		}
		d.open = library(dsn, config)
	}
	d.connector = &connector{open: d.open, timeout: loginTimeout}
	db.ConnPool = sql.OpenDB(d.connector)
	maps.Copy(db.ClauseBuilders, clauseBuilders)
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{
		CreateClauses: []string{"INSERT", "VALUES", "ON CONFLICT", "RETURNING"},
		QueryClauses:  []string{"SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "FOR"},
		UpdateClauses: []string{"UPDATE", "SET", "WHERE"},
		DeleteClauses: []string{"DELETE", "FROM", "WHERE"},
	})
	original := db.Logger
	db.Logger = logger.Discard // gorm logs that a callback is replaced
	defer func() { db.Logger = original }()
	cb := db.Callback()
	return errors.Join(
		cb.Create().Replace("gorm:create", create),
		cb.Update().Before("gorm:update").Register("plinth:oracle_returning", rejectReturning),
		cb.Delete().Before("gorm:delete").Register("plinth:oracle_returning", rejectReturning),
	)
}

// errReturning is the error of an update or delete with clause.Returning.
var errReturning = errors.New(
	"oracle: clause.Returning is not supported for update and delete: remove it")

func rejectReturning(db *gorm.DB) {
	if _, ok := db.Statement.Clauses["RETURNING"]; ok {
		_ = db.AddError(errReturning)
	}
}

// Migrator implements gorm.Dialector.
func (d *dialector) Migrator(db *gorm.DB) gorm.Migrator {
	return tableMigrator{migrator.Migrator{Config: migrator.Config{
		DB: db, Dialector: d, CreateIndexAfterCreateTable: true,
	}}}
}

// DataTypeOf implements gorm.Dialector.
func (*dialector) DataTypeOf(field *schema.Field) string { return dataType(field) }

// DefaultValueOf implements gorm.Dialector.
func (*dialector) DefaultValueOf(*schema.Field) clause.Expression { return defaultValue }

// BindVarTo implements gorm.Dialector.
func (*dialector) BindVarTo(w clause.Writer, stmt *gorm.Statement, _ any) {
	_ = w.WriteByte(':')
	_, _ = w.WriteString(strconv.Itoa(len(stmt.Vars)))
}

// QuoteTo implements gorm.Dialector.
func (*dialector) QuoteTo(w clause.Writer, name string) { _, _ = w.WriteString(quoted(name)) }

var placeholder = regexp.MustCompile(`:(\d+)`)

// Explain implements gorm.Dialector.
func (*dialector) Explain(query string, vars ...any) string {
	shown := make([]any, len(vars))
	for i, v := range vars {
		switch v := v.(type) {
		case bool:
			shown[i] = 0
			if v {
				shown[i] = 1
			}
		case sql.Out, go_ora.Out:
			shown[i] = "(out)"
		default:
			shown[i] = v
		}
	}
	return logger.ExplainSQL(query, placeholder, `'`, shown...)
}

// Translate implements gorm.ErrorTranslator.
func (*dialector) Translate(err error) error {
	if err == nil {
		return nil
	}
	return driver.Translate(Driver{}.ErrorKind(err), err, detail(err))
}

var savepointName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_$#]{0,127}$`)

// SavePoint implements gorm.SavePointerDialectorInterface.
func (*dialector) SavePoint(tx *gorm.DB, name string) error {
	return savepoint(tx, "SAVEPOINT ", name)
}

// RollbackTo implements gorm.SavePointerDialectorInterface.
func (*dialector) RollbackTo(tx *gorm.DB, name string) error {
	return savepoint(tx, "ROLLBACK TO SAVEPOINT ", name)
}

func savepoint(tx *gorm.DB, statement, name string) error {
	if !savepointName.MatchString(name) {
		return fmt.Errorf("oracle: invalid savepoint name %q", name)
	}
	return tx.Exec(statement + name).Error
}
