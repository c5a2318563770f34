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

// Version is the type of a column that counts the updates of a row, for optimistic
// locking:
//
//	type Account struct {
//		xmodels.BaseEntity
//		Balance int64
//		Version xmodels.Version `json:"version"`
//	}
//
// The first version of a row is 1. An update of an entity with a nonzero version succeeds
// only if the row still has that version; it increments the version in the row and in the
// entity. If the row was updated or deleted in the meantime, the error has the code
// xerror.OptimisticLock and the entity keeps its version:
//
//	errors.Is(err, xerror.OptimisticLock)
//
// An update without an entity, such as db.Model(&Account{}).Where(...), increments the
// version without a check. UpdateColumn and SkipHooks neither check nor increment it.
type Version int64

// versionState is the key of the version that updateVersion passes to checkVersion.
const versionState = "plinth:version"

var versionType = reflect.TypeFor[Version]()

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

func setFirstVersions(db *gorm.DB) {
	field := versionField(db.Statement.Schema)
	if db.Error != nil || field == nil {
		return
	}
	fill(db, field, func(reflect.Value) (int64, error) { return 1, nil })
}

// updateVersion adds the increment of the version to an update. If the current version is
// not 0, it also adds a condition on that version.
func updateVersion(db *gorm.DB) {
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
		stmt.AddClause(clause.Where{Exprs: []clause.Expression{
			clause.Eq{Column: column, Value: int64(current)},
		}})
	}
}

// versionOf returns the version of the entity that is updated, or 0 without a single
// entity.
func versionOf(ctx context.Context, field *schema.Field, entity reflect.Value) Version {
	if entity.Kind() != reflect.Struct || !entity.CanAddr() {
		return 0
	}
	value, _ := field.ValueOf(ctx, entity)
	version, _ := value.(Version)
	return version
}

// groupConditions wraps the existing conditions in parentheses, so that a further
// condition restricts all of them even if one is an OR.
func groupConditions(stmt *gorm.Statement) {
	c := stmt.Clauses["WHERE"]
	where, ok := c.Expression.(clause.Where)
	if !ok || len(where.Exprs) < 2 {
		return
	}
	c.Expression = clause.Where{Exprs: []clause.Expression{clause.And(where.Exprs...)}}
	stmt.Clauses["WHERE"] = c
}

// checkVersion returns xerror.OptimisticLock if the update of a version matched no row.
// Otherwise it increments the version in the entity.
func checkVersion(db *gorm.DB) {
	stmt := db.Statement
	state, ok := stmt.Settings.LoadAndDelete(versionState)
	if !ok {
		return
	}
	delete(stmt.Clauses, "SET") // as gorm does with its own SET clause
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
