package postgres_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/dbtest"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// occupy takes n connections of the pool and returns what gives them back.
func occupy(t *testing.T, db *gorm.DB, n int) (release func()) {
	t.Helper()
	held := make([]*gorm.DB, 0, n)
	for range n {
		tx := db.Begin()
		if tx.Error != nil {
			t.Fatal(tx.Error)
		}
		held = append(held, tx)
	}
	return func() {
		for _, tx := range held {
			tx.Rollback()
		}
	}
}

func TestCheckHealth_saturatedPool(t *testing.T) {
	const connections = 2
	_, config := find(t)
	outage := dbtest.CutOff(t, config)
	reg, err := xReg.New(t.Context(), nil, xOption.WithoutEnvFile(), xOption.WithSnowflake(xSnowflake.WithNodeID(1)), xOption.WithHealth(),
		xOption.WithDatabase(xOptDatabase.WithDriver(postgres.Name, ""), xOptDatabase.WithParts(outage.Config),
			xOptDatabase.WithMaxOpenConns(connections), xOptDatabase.WithMaxIdleConns(connections)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close(context.Background()) }) // the server was away
	if err := reg.Life().Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := xDB.MustGetDB(reg.Init.Ctx)
	readyz := func(what string, status int, want string) {
		t.Helper()
		began := time.Now()
		w := httptest.NewRecorder()
		reg.Serve.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
		if w.Code != status || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: /readyz = %d %s, want %d with %s", what, w.Code, w.Body, status, want)
		}
		t.Logf("%s: /readyz = %d after %s", what, w.Code, time.Since(began))
	}

	readyz("idle pool", http.StatusOK, `"name":"database","ok":true,"latency_us"`)
	release := occupy(t, db, connections)
	readyz("saturated pool", http.StatusOK, `"name":"database","ok":true,"state":"saturated"`)
	if err := outage.Stop(); err != nil {
		t.Fatal(err)
	}
	readyz("saturated pool, dead server", http.StatusServiceUnavailable, `"name":"database","ok":false`)
	release()
	readyz("dead server", http.StatusServiceUnavailable, `"name":"database","ok":false`)
	if err := outage.Start(); err != nil {
		t.Fatal(err)
	}
	readyz("server that is back", http.StatusOK, `"name":"database","ok":true,"latency_us"`)
}
