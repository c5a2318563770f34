package xmodels

import (
	"context"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// Version is the type of a column that counts the changes of a row, for optimistic
// locking:
//
//	type Account struct {
//		xmodels.BaseEntity
//		Balance int64
//		Version xmodels.Version `json:"version"`
//	}
//
// A row begins at 1. An update of an entity that was read (its version is not 0) only
// happens if the row still has that version, and counts one up in the row and in the
// entity. If the row was changed or deleted in the meantime, the error has the code
// xerror.OptimisticLock and the entity keeps its version:
//
//	errors.Is(err, xerror.OptimisticLock)
//
// An update without an entity, such as db.Model(&Account{}).Where(...), counts up and
// checks nothing. UpdateColumn and SkipHooks do neither.
type Version int64

// versionState is what beginVersion leaves for checkVersion.
const versionState = "plinth:version"

var versionType = reflect.TypeFor[Version]()

// versionField returns the Version of an entity, or nil.
func versionField(s *schema.Schema) *schema.Field {
	if s == nil {
		return nil
	}
	for _, f := range s.Fields {
		if f.FieldType == versionType && f.DBName != "" {
			return f
		}
	}
	return nil
}

// setFirstVersions makes rows begin at 1.
func setFirstVersions(db *gorm.DB) {
	field := versionField(db.Statement.Schema)
	if db.Error != nil || field == nil {
		return
	}
	fill(db, field, func(reflect.Value) (int64, error) { return 1, nil })
}

// beginVersion makes an update count the version up, and if the version is known
// depend on it.
func beginVersion(db *gorm.DB) {
	stmt := db.Statement
	field := versionField(stmt.Schema)
	if db.Error != nil || field == nil || stmt.SkipHooks || stmt.SQL.Len() > 0 {
		return
	}
	current := versionOf(stmt.Context, field, stmt.ReflectValue)
	set := callbacks.ConvertToAssignments(stmt)
	if len(set) == 0 || db.Error != nil {
		return
	}
	set = slices.DeleteFunc(set,
		func(a clause.Assignment) bool { return a.Column.Name == field.DBName })
	column := columnOf(field)
	stmt.AddClause(append(set, clause.Assignment{
		Column: clause.Column{Name: field.DBName},
		Value:  clause.Expr{SQL: "? + 1", Vars: []any{column}},
	}))
	stmt.Settings.Store(versionState, current)
	if current != 0 {
		groupConditions(stmt)
		stmt.AddClause(clause.Where{Exprs: []clause.Expression{clause.Eq{
			Column: column,
			Value:  int64(current),
		}}})
	}
}

// versionOf returns the version of the one entity that is updated, or 0.
func versionOf(ctx context.Context, field *schema.Field, entity reflect.Value) Version {
	if entity.Kind() != reflect.Struct || !entity.CanAddr() {
		return 0
	}
	value, _ := field.ValueOf(ctx, entity)
	version, _ := value.(Version)
	return version
}

// groupConditions puts the conditions that are there in brackets if one of them is an
// OR, so that another one restricts them all.
func groupConditions(stmt *gorm.Statement) {
	c := stmt.Clauses["WHERE"]
	where, ok := c.Expression.(clause.Where)
	if !ok || len(where.Exprs) < 2 {
		return
	}
	c.Expression = clause.Where{Exprs: []clause.Expression{clause.And(where.Exprs...)}}
	stmt.Clauses["WHERE"] = c
}

// checkVersion turns an update that found no row of its version into an error.
func checkVersion(db *gorm.DB) {
	stmt := db.Statement
	state, begun := stmt.Settings.LoadAndDelete(versionState)
	if !begun {
		return
	}
	delete(stmt.Clauses, "SET") // as gorm does with one that it has made itself
	current, _ := state.(Version)
	if current == 0 || db.Error != nil || db.DryRun {
		return
	}
	next := current + 1
	if db.RowsAffected == 0 {
		next = current
		_ = db.AddError(xerror.New(xerror.OptimisticLock, ""))
	}
	_ = db.AddError(versionField(stmt.Schema).Set(stmt.Context, stmt.ReflectValue, next))
}
