package xmodels

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Plugin is the gorm plugin that sets ids before an insert and checks versions at an
// update. xdb.Open registers it; use it with db.Use if a *gorm.DB was opened
// otherwise.
type Plugin struct {
	// Node returns the id node for statements whose context carries none; it may be nil,
	// and return nil. Without it they use the node of the process.
	Node func() *xsnowflake.Node
}

// Name implements gorm.Plugin.
func (Plugin) Name() string { return "plinth:models" }

// Initialize implements gorm.Plugin. The id is there before the hooks of the entity run,
// and before the transaction of the statement begins: an insert that waits for its node
// ID occupies no connection.
func (p Plugin) Initialize(db *gorm.DB) error {
	cb := db.Callback()
	return errors.Join(
		cb.Create().Before("*").Register("plinth:id", p.setIDs),
		cb.Create().Before("gorm:before_create").Register("plinth:first_version", setFirstVersions),
		cb.Update().Before("gorm:update").After("gorm:save_before_associations").Register("plinth:version", beginVersion),
		cb.Update().After("gorm:update").Before("gorm:save_after_associations").Register("plinth:version_check", checkVersion),
	)
}

var snowflakeType = reflect.TypeFor[xsnowflake.SnowflakeID]()

// setIDs gives every entity of an insert that has no id a new one. Entities whose primary
// key is no SnowflakeID, and maps, are left alone.
func (p Plugin) setIDs(db *gorm.DB) {
	if db.Error != nil || db.Statement.Schema == nil {
		return
	}
	key := db.Statement.Schema.PrioritizedPrimaryField
	if key == nil || key.FieldType != snowflakeType {
		return
	}
	var room [1]reflect.Value
	rows, err := rowsOf(db, room[:0])
	if err != nil {
		_ = db.AddError(err)
		return
	}
	rows = slices.DeleteFunc(rows, func(row reflect.Value) bool {
		return !key.ReflectValueOf(db.Statement.Context, row).IsZero()
	})
	if len(rows) > 0 {
		_ = db.AddError(p.generate(db, key, rows))
	}
}

// rowsOf appends the addressable structs that a statement inserts to rows.
func rowsOf(db *gorm.DB, rows []reflect.Value) ([]reflect.Value, error) {
	v := db.Statement.ReflectValue
	switch v.Kind() {
	case reflect.Struct:
		if !v.CanAddr() {
			return nil, fmt.Errorf("xmodels: insert of a %s by value, want a pointer: %w", v.Type(), gorm.ErrInvalidValue)
		}
		return append(rows, v), nil
	case reflect.Slice, reflect.Array:
		rows = slices.Grow(rows, v.Len())
		for i := range v.Len() {
			row := reflect.Indirect(v.Index(i))
			if row.Kind() != reflect.Struct || !row.CanAddr() {
				continue // a map, or a nil pointer, of which gorm itself complains
			}
			rows = append(rows, row)
		}
		return rows, nil
	default:
		return nil, nil
	}
}

// generate sets the ids of rows, one call of the node for each run of rows of the same
// gene.
func (p Plugin) generate(db *gorm.DB, key *schema.Field, rows []reflect.Value) error {
	ctx := db.Statement.Context
	if ctx.Value(xctx.SnowflakeNodeKey) == nil && p.Node != nil {
		if node := p.Node(); node != nil {
			ctx = context.WithValue(ctx, xctx.SnowflakeNodeKey, node)
		}
	}
	if _, err := xsnowflake.GetNode(ctx); err != nil {
		return fmt.Errorf("xmodels: no id for %s: the statement's context carries no id node "+
			"(use xdb.GetDB or db.WithContext): %w", db.Statement.Schema.Name, err)
	}
	ids := make([]xsnowflake.SnowflakeID, len(rows))
	for from := 0; from < len(rows); {
		gene, to := geneOf(rows[from]), from+1
		for to < len(rows) && geneOf(rows[to]) == gene {
			to++
		}
		if err := xsnowflake.GenerateSnowflakeIDs(ctx, ids[from:to], gene); err != nil {
			return fmt.Errorf("xmodels: ids for %s: %w", db.Statement.Schema.Name, err)
		}
		from = to
	}
	for i, row := range rows {
		key.ReflectValueOf(ctx, row).SetInt(int64(ids[i]))
	}
	return nil
}

// geneOf asks an entity for its gene.
func geneOf(row reflect.Value) xsnowflake.Gene {
	if p, ok := reflect.TypeAssert[xsnowflake.GeneProvider](row.Addr()); ok {
		return p.GetGene()
	}
	return xsnowflake.GeneDefault
}
