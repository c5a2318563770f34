package xdb

import (
	"errors"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// lean is a gorm plugin that leaves out what comes to nothing. It is the first one, so that an application can still
// replace what it changes.
type lean struct{}

// Name implements gorm.Plugin.
func (lean) Name() string { return "plinth:lean" }

// Initialize implements gorm.Plugin.
func (lean) Initialize(db *gorm.DB) error {
	if _, ok := db.ClauseBuilders["VALUES"]; !ok {
		db.ClauseBuilders["VALUES"] = growVars
	}
	return skipAssociations(db)
}

// growVars makes room for the parameters of an insert at once.
func growVars(c clause.Clause, b clause.Builder) {
	values, isValues := c.Expression.(clause.Values)
	if stmt, ok := b.(*gorm.Statement); ok && isValues {
		stmt.Vars = slices.Grow(stmt.Vars, len(values.Columns)*len(values.Values))
	}
	c.Build(b)
}

// skipAssociations puts a look at the entity before gorm's callbacks that save its associations: most have none.
func skipAssociations(db *gorm.DB) error {
	var errs []error
	for _, name := range []string{"gorm:save_before_associations", "gorm:save_after_associations"} {
		for _, p := range []interface {
			Get(name string) func(*gorm.DB)
			Replace(name string, fn func(*gorm.DB)) error
		}{db.Callback().Create(), db.Callback().Update()} {
			save := p.Get(name)
			if save == nil {
				continue // a dialector of the application's own may have no such callback
			}
			errs = append(errs, p.Replace(name, func(tx *gorm.DB) {
				if hasAssociations(tx) {
					save(tx)
				}
			}))
		}
	}
	return errors.Join(errs...)
}

func hasAssociations(tx *gorm.DB) bool {
	s := tx.Statement.Schema
	if s == nil {
		return false
	}
	r := &s.Relationships
	return len(r.BelongsTo)+len(r.HasOne)+len(r.HasMany)+len(r.Many2Many) > 0
}
