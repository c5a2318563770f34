package sqlite_test

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

type named interface {
	base() *xmodels.BaseEntityWithSoftDelete
}

// The indexes that the xmodels page recommends.
type (
	conditional struct {
		xmodels.BaseEntityWithSoftDelete
		Name string `gorm:"size:64;uniqueIndex:idx_conditional_name,where:deleted_at IS NULL"`
	}

	computed struct {
		xmodels.BaseEntityWithSoftDelete
		Name string `gorm:"size:64;uniqueIndex:idx_computed_name,expression:(CASE WHEN deleted_at IS NULL THEN name END)"`
	}
)

func (c *conditional) base() *xmodels.BaseEntityWithSoftDelete {
	return &c.BaseEntityWithSoftDelete
}

func (c *computed) base() *xmodels.BaseEntityWithSoftDelete { return &c.BaseEntityWithSoftDelete }

func TestSoftDelete_UniqueIndex(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func() named
	}{
		{name: "where", make: func() named { return &conditional{Name: "ann"} }},
		{name: "expression", make: func() named { return &computed{Name: "ann"} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := file(t)
			o.Driver, o.AutoMigrate = sqlite.Name, []any{tc.make()}
			db, err := xdb.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = xdb.Close(db) }()
			row := func(id int) named {
				r := tc.make()
				r.base().ID = xsnowflake.SnowflakeID(id)
				return r
			}
			first := row(1)
			steps := []struct {
				name string
				err  error
				want error
			}{
				{name: "create", err: db.Create(first).Error},
				{
					name: "create a second row",
					err:  db.Create(row(2)).Error,
					want: gorm.ErrDuplicatedKey,
				},
				{name: "delete", err: db.Delete(first).Error},
				{name: "create after the deletion", err: db.Create(row(3)).Error},
				{
					name: "restore while the name is used",
					err:  db.Unscoped().Model(first).Update("deleted_at", nil).Error,
					want: gorm.ErrDuplicatedKey,
				},
				{name: "delete the new row", err: db.Delete(row(3)).Error},
				{
					name: "restore the first row",
					err:  db.Unscoped().Model(first).Update("deleted_at", nil).Error,
				},
			}
			for _, s := range steps {
				if !errors.Is(s.err, s.want) {
					t.Errorf("%s = %v, want %v", s.name, s.err, s.want)
				}
			}
		})
	}
}
