package snippets_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gin-gonic/gin"

	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

func xoptionStart(ctx context.Context, routes func(ctx context.Context, engine *gin.Engine)) *xReg.Reg {
	type User struct {
		xModels.BaseEntity
		Name string
	}
	reg := xReg.Register(ctx, nil,
		xOption.WithDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&User{})),
		xOption.WithCache(xOptCache.FromEnv()),
		xOption.WithRoute(routes),
		xOption.WithHealth(),
	)
	return reg
}

func TestOptionsAreCarriedOut(t *testing.T) {
	for name, value := range map[string]string{
		"DATABASE_DRIVER": "sqlite", "DATABASE_PATH": ":memory:", "NOSQL_DRIVER": "memory", "LOG_DIR": "none", "LOG_LEVEL": "error",
	} {
		t.Setenv(name, value)
	}
	reg := xoptionStart(t.Context(), func(_ context.Context, engine *gin.Engine) {
		engine.GET("/", func(c *gin.Context) { xResult.Success(c, "hello") })
	})
	var n int64
	if err := xDB.MustGetDB(reg.Init.Ctx).Table("users").Count(&n).Error; err != nil {
		t.Error(err)
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func xoptionDefaults() xOption.Option {
	return xOption.WithEnvDefaults(map[xEnv.EnvKey]string{
		xEnv.DatabaseDriver: "sqlite",
		xEnv.DatabasePath:   ".data/usercenter.db",
		xEnv.NoSqlDriver:    "memory",
	})
}

func TestDefaultsArePlanned(t *testing.T) {
	t.Parallel()
	if got := xOption.New(xoptionDefaults()).EnvDefaults[xEnv.NoSqlDriver]; got != "memory" {
		t.Errorf("default = %q", got)
	}
}

const searchKey xCtx.ContextKey = "search"

// xoptionSearch stands for the client of a search server.
type xoptionSearch struct{ address string }

func checkAddress(address string) error {
	if address == "" {
		return errors.New("search: no address")
	}
	return nil
}

func dialSearch(_ context.Context, address string) (any, error) {
	return &xoptionSearch{address: address}, nil
}

func WithSearch(address string) xOption.Option {
	return xOption.WithPhase(xOption.Phase{
		Name:  "search",
		Key:   searchKey,
		Rank:  xOption.RankCache + 1,
		Check: func(context.Context) error { return checkAddress(address) },
		Start: func(ctx context.Context) (any, error) { return dialSearch(ctx, address) },
	})
}

func TestOwnOptionAddsAPhase(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, WithSearch("search:9200"))
	if search := xCtxUtil.MustGet[*xoptionSearch](app.Context(), searchKey); search.address != "search:9200" {
		t.Errorf("address = %q", search.address)
	}
}
