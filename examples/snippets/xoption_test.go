package snippets_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func xoptionStart(
	ctx context.Context, routes func(ctx context.Context, engine *gin.Engine),
) *xreg.Reg {
	type User struct {
		xmodels.BaseEntity
		Name string
	}
	reg := xreg.Register(ctx, nil,
		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&User{})),
		xoption.WithCache(xoptcache.FromEnv()),
		xoption.WithRoute(routes),
		xoption.WithHealth(),
	)
	return reg
}

func TestXoption_Register(t *testing.T) {
	for name, value := range map[string]string{
		"DATABASE_DRIVER": "sqlite", "DATABASE_PATH": ":memory:", "NOSQL_DRIVER": "memory",
		"LOG_DIR": "none", "LOG_LEVEL": "error",
	} {
		t.Setenv(name, value)
	}
	reg := xoptionStart(t.Context(), func(_ context.Context, engine *gin.Engine) {
		engine.GET("/", func(c *gin.Context) { xresult.Success(c, "hello") })
	})
	var n int64
	if err := xdb.MustGetDB(reg.Init.Ctx).Table("users").Count(&n).Error; err != nil {
		t.Error(err)
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func xoptionDefaults() xoption.Option {
	return xoption.WithEnvDefaults(map[xenv.EnvKey]string{
		xenv.DatabaseDriver: "sqlite",
		"DATABASE_PATH":     ".data/usercenter.db",
		xenv.NoSqlDriver:    "memory",
	})
}

var _ = xoptionDefaults() // compiled for the page

const searchKey xctx.ContextKey = "search"

// xoptionSearch is a fake client of a search server.
type xoptionSearch struct{ address string }

func dialSearch(_ context.Context, address string) (any, error) {
	if address == "" {
		return nil, errors.New("search: no address")
	}
	return &xoptionSearch{address: address}, nil
}

func WithSearch(address string) xoption.Option {
	return xoption.WithNodes(xregnode.Node{
		Key:  searchKey,
		Node: func(ctx context.Context) (any, error) { return dialSearch(ctx, address) },
	})
}

func TestXoption_CustomOption(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, WithSearch("search:9200"))
	search := xctxutil.MustGet[*xoptionSearch](app.Context(), searchKey)
	if search.address != "search:9200" {
		t.Errorf("address = %q", search.address)
	}
}
