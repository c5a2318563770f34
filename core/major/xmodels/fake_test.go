package xmodels_test

import (
	"context"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// dry returns a database that builds statements and sends none, with an id node in its
// context.
func dry(t *testing.T) *gorm.DB {
	t.Helper()
	node, err := xsnowflake.NewNode()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	})
	return dryWithout(t).WithContext(context.WithValue(t.Context(), xctx.SnowflakeNodeKey, node))
}

// dryWithout is dry without an id node.
func dryWithout(t *testing.T) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(tests.DummyDialector{},
		&gorm.Config{DryRun: true, SkipDefaultTransaction: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(xmodels.Plugin{}); err != nil {
		t.Fatal(err)
	}
	return db
}

type user struct {
	xmodels.BaseEntity
	Name string

	seen xsnowflake.SnowflakeID // by the hook
}

func (*user) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }

// BeforeCreate is the application's own hook.
func (u *user) BeforeCreate(*gorm.DB) error {
	u.seen = u.ID
	return nil
}
