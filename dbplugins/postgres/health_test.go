package postgres_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// occupy borrows n connections of the pool. The returned function releases them.
func occupy(t *testing.T, db *gorm.DB, n int) (release func()) {
	t.Helper()
	txs := make([]*gorm.DB, 0, n)
	for range n {
		tx := db.Begin()
		if tx.Error != nil {
			t.Fatal(tx.Error)
		}
		txs = append(txs, tx)
	}
	return func() {
		for _, tx := range txs {
			tx.Rollback()
		}
	}
}

// poolSize is the connection limit of a service under test.
const poolSize = 2

// serve starts a service with a database and a pool of poolSize connections.
func serve(t *testing.T, config driver.Config) (*xreg.Reg, *gorm.DB) {
	t.Helper()
	reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(),
		xoption.WithSnowflake(xsnowflake.WithNodeID(1)), xoption.WithHealth(),
		xoption.WithDatabase(xoptdatabase.WithDriver(postgres.Name, ""), xdb.WithParts(config),
			xoptdatabase.WithMaxOpenConns(poolSize), xdb.WithMaxIdleConns(poolSize)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close(context.Background()) }) // the server was unavailable
	if err := reg.Lifecycle().SetReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return reg, xdb.MustGetDB(reg.Init.Ctx)
}

// wantReadyz checks that /readyz responds with the status and a body that contains want.
func wantReadyz(t *testing.T, reg *xreg.Reg, what string, status int, want string) {
	t.Helper()
	start := time.Now()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody)
	reg.Serve.ServeHTTP(w, r)
	if w.Code != status || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%s: /readyz = %d %s, want %d with %s", what, w.Code, w.Body, status, want)
	}
	t.Logf("%s: /readyz = %d after %s", what, w.Code, time.Since(start))
}

const (
	isReady     = `"name":"database","ok":true,"latency_us"`
	isSaturated = `"name":"database","ok":true,"state":"saturated"`
	isDown      = `"name":"database","ok":false`
)

func TestCheckHealth_SaturatedPool(t *testing.T) {
	_, config := find(t)
	outage := dbtest.CutOff(t, config)
	reg, db := serve(t, outage.Config)
	wantReadyz(t, reg, "idle pool", http.StatusOK, isReady)
	release := occupy(t, db, poolSize)
	wantReadyz(t, reg, "saturated pool", http.StatusOK, isSaturated)
	if err := outage.Stop(); err != nil {
		t.Fatal(err)
	}
	wantReadyz(t, reg, "saturated pool, stopped server", http.StatusServiceUnavailable, isDown)
	release()
	wantReadyz(t, reg, "stopped server", http.StatusServiceUnavailable, isDown)
	if err := outage.Start(); err != nil {
		t.Fatal(err)
	}
	wantReadyz(t, reg, "restarted server", http.StatusOK, isReady)
}

func TestCheckHealth_ConnectionLimit(t *testing.T) {
	server, _ := find(t)
	config := newDatabase(t, server, "", "")
	execAll(t, admin(t, server.DSN),
		fmt.Sprintf("ALTER ROLE %s CONNECTION LIMIT %d", quote(config.User), poolSize))
	outage := dbtest.CutOff(t, config)
	reg, db := serve(t, outage.Config)
	wantReadyz(t, reg, "idle pool", http.StatusOK, isReady)
	release := occupy(t, db, poolSize)
	wantReadyz(t, reg, "saturated pool", http.StatusOK, isSaturated)
	release()
	wantReadyz(t, reg, "released pool", http.StatusOK, isReady)
	release = occupy(t, db, poolSize)
	if err := outage.Stop(); err != nil {
		t.Fatal(err)
	}
	wantReadyz(t, reg, "saturated pool, stopped server", http.StatusServiceUnavailable, isDown)
	release()
}
