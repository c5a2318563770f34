package snippets_test

import (
	"context"
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// xregnodeIndex is a component that a node opens.
type xregnodeIndex struct{ db *gorm.DB }

func openIndex(ctx context.Context, db *gorm.DB) (*xregnodeIndex, error) {
	return &xregnodeIndex{db: db}, ctx.Err()
}

const indexKey xctx.ContextKey = "index"

func warmUp(ctx context.Context) (any, error) {
	if xctxutil.MustGet[*xregnodeIndex](ctx, indexKey).db == nil {
		return nil, errors.New("the index has no database")
	}
	return nil, nil // no value
}

func xregnodeStart(ctx context.Context, options ...xoption.Option) *xreg.Reg {
	nodes := []xregnode.Node{
		{Key: indexKey, Node: func(ctx context.Context) (any, error) {
			return openIndex(ctx, xdb.MustGetDB(ctx))
		}},
		{Key: xctx.Exec, Node: warmUp},
	}
	reg := xreg.Register(ctx, nodes, options...)
	return reg
}

func TestXregnode_Order(t *testing.T) {
	t.Setenv("LOG_DIR", "none")
	t.Setenv("LOG_LEVEL", "error")
	reg := xregnodeStart(t.Context(),
		xoption.WithDatabase(xoptdatabase.WithDriver("sqlite", ":memory:")))
	if index := xctxutil.MustGet[*xregnodeIndex](reg.Init.Ctx, indexKey); index.db == nil {
		t.Error("the index has no database")
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
