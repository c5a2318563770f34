package snippets_test

import (
	"context"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// SeatTaken is an error code of the application.
var SeatTaken = xerror.MustErrorCode(40970, "SEAT_TAKEN", "The seat is taken", "座位已被占用")

func TestMustErrorCode_Status(t *testing.T) {
	t.Parallel()
	if SeatTaken.Status() != 409 {
		t.Errorf("status = %d, want 409", SeatTaken.Status())
	}
}

// searchIndex is a double of a search service.
type searchIndex struct{ db *gorm.DB }

func TestWithNodes_Order(t *testing.T) {
	t.Parallel()
	warm := false
	openSearch := func(_ context.Context, db *gorm.DB) (any, error) {
		return &searchIndex{db: db}, nil
	}
	warmUp := func(ctx context.Context) (any, error) {
		index, err := xctxutil.Get[*searchIndex](ctx, "search")
		if err != nil {
			return nil, err
		}
		warm = index.db != nil
		return nil, nil
	}
	nodes := []xregnode.Node{
		{Key: "search", Node: func(ctx context.Context) (any, error) {
			return openSearch(ctx, xdb.MustGetDB(ctx))
		}},
		{Key: xctx.Exec, Node: warmUp}, // runs once and stores no value
	}
	plinthtest.New(t, xoption.WithDatabase(xoptdatabase.FromEnv()), xoption.WithNodes(nodes...))
	if !warm {
		t.Error("the second node did not find the first with its database")
	}
}
