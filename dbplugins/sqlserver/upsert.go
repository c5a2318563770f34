package sqlserver

import (
	"errors"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// excluded is gorm's name for the rows to insert.
const excluded = "excluded"

// upsert describes how to handle conflicting rows.
type upsert struct {
	clause.OnConflict

	targets [][]string // column sets; a row conflicts if it is equal in all columns of a set
}

var errNoTarget = errors.New("sqlserver: clause.OnConflict: " +
	"OnConstraint and TargetWhere are not supported: set Columns")

// newUpsert converts the statement's clause.OnConflict. It returns nil if no conflict is
// possible.
func newUpsert(stmt *gorm.Statement, columns []clause.Column) *upsert {
	on, ok := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	if !ok {
		return nil
	}
	if on.OnConstraint != "" || len(on.TargetWhere.Exprs) > 0 {
		_ = stmt.AddError(errNoTarget)
		return nil
	}
	u := &upsert{OnConflict: on}
	for _, target := range conflictTargets(stmt, on) {
		inserted := func(name string) bool {
			return slices.ContainsFunc(columns,
				func(c clause.Column) bool { return c.Name == name })
		}
		if len(target) > 0 && !slices.ContainsFunc(target,
			func(name string) bool { return !inserted(name) }) {
			u.targets = append(u.targets, target)
		}
	}
	if len(u.targets) == 0 {
		return nil // the server generates the key
	}
	return u
}

// conflictTargets returns the columns of the clause, or those of the primary key.
// DoNothing without columns also includes every unique index of the entity.
func conflictTargets(stmt *gorm.Statement, on clause.OnConflict) (targets [][]string) {
	if len(on.Columns) > 0 {
		var target []string
		for _, column := range on.Columns {
			target = append(target, driver.ColumnName(stmt, column.Name))
		}
		return append(targets, target)
	}
	if stmt.Schema == nil {
		return nil
	}
	targets = append(targets, stmt.Schema.PrimaryFieldDBNames)
	if !on.DoNothing {
		return targets
	}
	for _, index := range stmt.Schema.ParseIndexes() {
		var target []string
		for _, part := range index.Fields {
			if part.Field == nil || part.Expression != "" {
				target = nil
				break
			}
			target = append(target, part.DBName)
		}
		if index.Class == "UNIQUE" && index.Where == "" {
			targets = append(targets, target)
		}
	}
	for _, unique := range stmt.Schema.ParseUniqueConstraints() {
		targets = append(targets, []string{unique.Field.DBName})
	}
	slices.SortFunc(targets, slices.Compare)
	return targets
}
