package xmodels

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Plugin is the gorm plugin that sets ids before an insert and checks versions at an
// update. xdb.Open registers it. Register it with db.Use if a *gorm.DB was opened without
// xdb.
type Plugin struct {
	// Node returns the id node for statements whose context contains no node. If Node is
	// nil or returns nil, these statements use the default node of the process.
	Node func() *xsnowflake.Node
}

// Name implements gorm.Plugin.
func (Plugin) Name() string { return "plinth:models" }

// Initialize implements gorm.Plugin. It sets ids before the hooks of the entity and
// before the transaction of the statement start. An insert that waits for a node ID
// therefore occupies no connection.
func (p Plugin) Initialize(db *gorm.DB) error {
	cb := db.Callback()
	return errors.Join(
		cb.Create().Before("*").Register("plinth:id", p.setIDs),
		cb.Create().Before("gorm:before_create").Register("plinth:first_version", setFirstVersions),
		cb.Update().Before("gorm:update").After("gorm:save_before_associations").Register(
			"plinth:version", updateVersion),
		cb.Update().After("gorm:update").Before("gorm:save_after_associations").Register(
			"plinth:version_check", checkVersion),
	)
}

var snowflakeType = reflect.TypeFor[xsnowflake.SnowflakeID]()

// setIDs sets the missing ids of the entities of an insert. It ignores maps and entities
// whose primary key is not a SnowflakeID.
func (p Plugin) setIDs(db *gorm.DB) {
	if db.Error != nil || db.Statement.Schema == nil {
		return
	}
	key := db.Statement.Schema.PrioritizedPrimaryField
	if key == nil || key.FieldType != snowflakeType {
		return
	}
	ctx := p.withNode(db.Statement.Context)
	fill(db, key, func(row reflect.Value) (int64, error) {
		id, err := xsnowflake.GenerateGeneSnowflakeID(ctx, geneOf(row))
		if err != nil {
			return 0, fmt.Errorf("xmodels: no id for %s: %w", db.Statement.Schema.Name, err)
		}
		return int64(id), nil
	})
}

func (p Plugin) withNode(ctx context.Context) context.Context {
	if p.Node == nil || ctx.Value(xctx.SnowflakeNodeKey) != nil {
		return ctx
	}
	if node := p.Node(); node != nil {
		return context.WithValue(ctx, xctx.SnowflakeNodeKey, node)
	}
	return ctx
}

// fill sets a field of every struct that a statement inserts, unless the field is already
// set.
func fill(db *gorm.DB, f *schema.Field, value func(row reflect.Value) (int64, error)) {
	set := func(row reflect.Value) {
		target := f.ReflectValueOf(db.Statement.Context, row)
		if db.Error != nil || !target.IsZero() {
			return
		}
		n, err := value(row)
		_ = db.AddError(err)
		target.SetInt(n)
	}
	switch v := db.Statement.ReflectValue; v.Kind() {
	case reflect.Struct:
		if !v.CanAddr() {
			_ = db.AddError(fmt.Errorf("xmodels: insert %s by value: pass a pointer: %w",
				v.Type(), gorm.ErrInvalidValue))
			return
		}
		set(v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			row := reflect.Indirect(v.Index(i))
			// gorm inserts maps, and returns an error for nil pointers
			if row.Kind() == reflect.Struct && row.CanAddr() {
				set(row)
			}
		}
	default:
	}
}

func geneOf(row reflect.Value) xsnowflake.Gene {
	if p, ok := reflect.TypeAssert[xsnowflake.GeneProvider](row.Addr()); ok {
		return p.GetGene()
	}
	return xsnowflake.GeneDefault
}
