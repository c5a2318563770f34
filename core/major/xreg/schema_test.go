package xreg_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// fakeDatabase is a database that connects and records the close of its pool.
type fakeDatabase struct {
	tests.DummyDialector

	log *[]string
}

func (q fakeDatabase) Initialize(db *gorm.DB) error {
	*q.log = append(*q.log, "open database")
	db.ConnPool = sql.OpenDB(q)
	return nil
}

func (q fakeDatabase) Connect(context.Context) (sqldriver.Conn, error) {
	return fakeConn{log: q.log}, nil
}

func (fakeDatabase) Driver() sqldriver.Driver { return nil }

type fakeConn struct {
	sqldriver.Conn

	log *[]string
}

func (c fakeConn) Close() error {
	*c.log = append(*c.log, "close database")
	return nil
}

// migrated returns an option for a database with a Prepare function. The function logs
// its call, and "too early" if a component has not started.
func migrated(log *[]string, err error) xoption.Option {
	return xoption.WithDatabase(xoptdatabase.WithDialector(fakeDatabase{log: log}),
		xoptdatabase.WithPrepare(
			func(ctx context.Context, _ *gorm.DB) error {
				*log = append(*log, "prepare")
				_, noIDs := xsnowflake.GenerateSnowflakeID(ctx)
				_, noDatabase := xdb.GetDB(ctx)
				_, noLeases := xlease.GetLeases(ctx)
				if noIDs != nil || noDatabase != nil || noLeases != nil ||
					ctx.Value(xctx.CacheManagerKey) == nil {
					*log = append(*log, "too early")
				}
				return err
			}))
}

func TestNew_Schema(t *testing.T) {
	t.Run("the database is migrated after cache, leases and ID node have started",
		func(t *testing.T) {
			for _, late := range []bool{false, true} {
				var log []string
				cache := newLeaseBackend("cache", driver.Cluster)
				cache.log = &log
				base, _ := isolatedLeased(t)
				node := xregnode.Node{Key: xctx.Exec, Node: func(context.Context) (any, error) {
					log = append(log, "node")
					return nil, nil
				}}
				opts := []xoption.Option{
					migrated(&log, nil), cache.phase(), xoption.WithNodes(node),
				}
				first, rest := opts, []xoption.Option(nil)
				if late {
					first, rest = nil, opts
				}
				reg, err := xreg.New(t.Context(), nil, append([]xoption.Option{base}, first...)...)
				if err == nil {
					err = reg.Apply(rest...)
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := reg.Close(t.Context()); err != nil {
					t.Error(err)
				}
				want := []string{
					"open database", "prepare", "node", "release in cache", "close cache",
					"close database",
				}
				if late { // the ID node started before and uses the lease directory
					want = slices.DeleteFunc(want,
						func(s string) bool { return s == "release in cache" })
				}
				if !slices.Equal(log, want) {
					t.Errorf("late %t: order = %v, want %v", late, log, want)
				}
				if detail(reg, "database") != "dummy" || len(reg.Parts()) != 4 {
					t.Errorf("late %t: parts = %v, want database, cache, leases and id node",
						late, reg.Parts())
				}
			}
		})

	t.Run("a failed migration closes everything in reverse order", func(t *testing.T) {
		boom := errors.New("boom")
		var log []string
		cache := newLeaseBackend("cache", driver.Cluster)
		cache.log = &log
		base, _ := isolatedLeased(t)
		if _, err := xreg.New(t.Context(), nil, base, migrated(&log, boom),
			cache.phase()); !errors.Is(err, boom) ||
			err.Error() != "database schema: xdb: prepare function 1: boom" {
			t.Errorf("New = %v, want boom", err)
		}
		want := []string{
			"open database", "prepare", "release in cache", "close cache", "close database",
		}
		if !slices.Equal(log, want) {
			t.Errorf("order = %v, want %v", log, want)
		}
	})
}

func TestNew_Options(t *testing.T) {
	var log []string
	database, cache := 0, 0
	reg, _ := start(t, nil, migrated(&log, nil),
		xoption.WithDatabase(func(*xdb.Options) { database++ }),
		xoption.WithCache(func(*xcache.Options) { cache++ }))
	if database != 1 || cache != 1 || detail(reg, "database") != "dummy" {
		t.Errorf("options ran %d and %d times, want once each", database, cache)
	}
}

func TestReg_Apply_OpenDatabase(t *testing.T) {
	var log []string
	reg, _ := start(t, nil, migrated(&log, nil))
	// this option alone opens no database
	late := xoption.WithDatabase(
		xoptdatabase.WithPrepare(func(context.Context, *gorm.DB) error { return nil }))
	if err := reg.Apply(late); err == nil ||
		!strings.Contains(err.Error(), "the database is already open") {
		t.Errorf("Apply = %v, want an error", err)
	}
}
