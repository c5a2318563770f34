package snippets_test

import (
	"context"
	"errors"
	"testing"

	"gorm.io/gorm"

	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// xregnodeIndex stands for something that a node opens.
type xregnodeIndex struct{ db *gorm.DB }

func openIndex(ctx context.Context, db *gorm.DB) (*xregnodeIndex, error) {
	return &xregnodeIndex{db: db}, ctx.Err()
}

const indexKey xCtx.ContextKey = "index"

func warmUp(ctx context.Context) (any, error) {
	if xCtxUtil.MustGet[*xregnodeIndex](ctx, indexKey).db == nil {
		return nil, errors.New("the index has no database")
	}
	return nil, nil //nolint:nilnil // a node that only runs has no value
}

func xregnodeStart(ctx context.Context, options ...xOption.Option) *xReg.Reg {
	nodes := []xRegNode.RegNodeList{
		{Key: indexKey, Node: func(ctx context.Context) (any, error) { return openIndex(ctx, xDB.MustGetDB(ctx)) }},
		{Key: xCtx.Exec, Node: warmUp},
	}
	reg := xReg.Register(ctx, nodes, options...)
	return reg
}

func TestNodesSeeWhatCameBefore(t *testing.T) {
	t.Setenv("LOG_DIR", "none")
	t.Setenv("LOG_LEVEL", "error")
	reg := xregnodeStart(t.Context(), xOption.WithDatabase(xOptDatabase.WithDriver("sqlite", ":memory:")))
	if index := xCtxUtil.MustGet[*xregnodeIndex](reg.Init.Ctx, indexKey); index.db == nil {
		t.Error("the index has no database")
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
