package river_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	dbdriver "github.com/plinthgo/plinth/core/major/xdb/driver"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

func TestOpen(t *testing.T) {
	t.Run("returns ErrNotPostgres for another database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.db")
		db, err := xdb.Open(t.Context(), xdb.Options{
			Driver: "sqlite",
			Parts:  dbdriver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
		})
		must(t, err)
		t.Cleanup(func() { must(t, xdb.Close(db)) })
		_, err = river.Open()(context.WithValue(t.Context(), xctx.DatabaseKey, db))
		if !errors.Is(err, river.ErrNotPostgres) || !strings.Contains(err.Error(), "sqlite") ||
			!strings.Contains(err.Error(), "outbox.Open") {
			t.Errorf("Open on SQLite = %v", err)
		}
	})

	t.Run("names xoption.WithDatabase if the database is missing", func(t *testing.T) {
		_, err := river.Open()(t.Context())
		if err == nil || !strings.Contains(err.Error(), "xoption.WithDatabase") {
			t.Errorf("Open without a database = %v", err)
		}
	})

	t.Run("reports every invalid option", func(t *testing.T) {
		_, err := river.Open(river.WithTakeoverTimeout(time.Second), river.WithRetention(0),
			river.WithSchema("a b"), river.WithDB(nil))(t.Context())
		for _, want := range []string{"WithTakeoverTimeout", "WithRetention", "WithSchema", "WithDB"} {
			if !errors.Is(err, job.ErrOption) || !strings.Contains(err.Error(), want) {
				t.Errorf("Open = %v, want an error about %s", err, want)
			}
		}
	})

	t.Run("migrates once for concurrent replicas", func(t *testing.T) {
		_, c := testServer(t)
		c = newDatabase(t, c)
		const replicas = 6
		errs := make([]error, replicas)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range replicas {
			ctx, _ := application(t, c)
			wg.Go(func() {
				<-start
				_, errs[i] = river.Open(river.WithSchema("jobs"))(ctx)
			})
		}
		close(start)
		wg.Wait()
		must(t, errors.Join(errs...))
		n := queryValue[int](t, admin(t, c), "SELECT count(*) FROM jobs.river_migration")
		if n != 8 {
			t.Errorf("%d migrations are applied, want 8", n)
		}
	})

	t.Run("names the grant and WithoutMigration if a privilege is missing", func(t *testing.T) {
		user, owner := unprivileged(t)
		ctx, _ := application(t, user)
		_, err := river.Open()(ctx)
		if err == nil || !strings.Contains(err.Error(), "grant CREATE") ||
			!strings.Contains(err.Error(), "WithoutMigration") {
			t.Fatalf("Open = %v", err)
		}
		_, err = river.Open(river.WithoutMigration())(ctx)
		if err == nil || !strings.Contains(err.Error(), "River's tables are not up to date") {
			t.Fatalf("Open without tables = %v", err)
		}
		replica(t, owner) // migrates
		conn := admin(t, owner)
		execSQL(t, conn,
			"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+user.User,
			"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "+user.User)
		for _, options := range [][]river.Option{nil, {river.WithoutMigration()}} {
			engine, ctx := replica(t, user, options...)
			jobs, ids := newJobs(quickKind, 1)
			must(t, engine.Insert(ctx, jobs))
			finish(t, ctx, engine, ids)
		}
	})

	t.Run("returns errors without the password", func(t *testing.T) {
		user, owner := unprivileged(t)
		replica(t, owner)
		conn := admin(t, owner)
		execSQL(t, conn, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+user.User)
		ctx, db := application(t, user)
		engine, err := river.Open()(ctx)
		must(t, err)
		jobs, _ := newJobs(quickKind, 1)
		errs := []error{engine.Insert(ctx, jobs)}
		execSQL(t, conn, "ALTER ROLE "+user.User+" NOLOGIN")
		errs = append(errs, engine.Work(ctx, work(nil, quickKind)))
		pool, err := db.DB()
		must(t, err)
		pool.SetMaxIdleConns(0)
		errs = append(errs, engine.Work(ctx, work(nil, quickKind)), engine.Ping(ctx))
		for i, err := range errs {
			if err == nil || strings.Contains(err.Error(), "secret-plain") {
				t.Errorf("error %d = %v, want an error without the password", i, err)
			}
		}
	})
}

// unprivileged returns the configurations of an unprivileged user and of the owner of a
// new database.
func unprivileged(t *testing.T) (user, owner dbdriver.Config) {
	t.Helper()
	_, c := testServer(t)
	owner = newDatabase(t, c)
	user = owner
	user.User, user.Pass = owner.Name+"_plain", "secret-plain"
	conn := admin(t, c)
	execSQL(t, conn, "CREATE ROLE "+user.User+" LOGIN PASSWORD 'secret-plain'")
	t.Cleanup(func() { execSQL(t, conn, "DROP ROLE "+user.User) })
	ownerConn := admin(t, owner)
	execSQL(t, ownerConn, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	t.Cleanup(func() { execSQL(t, ownerConn, "DROP OWNED BY "+user.User) })
	return user, owner
}
