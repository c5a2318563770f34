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

// newDryRunDB returns a database that builds statements without executing them. Its
// context contains an id node.
func newDryRunDB(t *testing.T) *gorm.DB {
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
	return newDryRunDBWithoutNode(t).WithContext(context.WithValue(t.Context(),
		xctx.SnowflakeNodeKey, node))
}

func newDryRunDBWithoutNode(t *testing.T) *gorm.DB {
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

	seen xsnowflake.SnowflakeID // set by the hook
}

func (*user) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }

func (u *user) BeforeCreate(*gorm.DB) error {
	u.seen = u.ID
	return nil
}
