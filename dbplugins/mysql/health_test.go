package mysql_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb"
)

func TestCheckHealth_SaturatedPool(t *testing.T) {
	outage := dbtest.CutOff(t, serverConfig(t))
	db := open(t, logContext(t, io.Discard), xdb.Options{Parts: outage.Config, MaxOpenConns: 1})
	tx := db.Begin()
	if tx.Error != nil {
		t.Fatal(tx.Error)
	}
	check := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		return xdb.CheckHealth(ctx, db)
	}
	if err := check(); err != nil || !xdb.Saturated(db) {
		t.Errorf("CheckHealth = %v, Saturated = %t; want nil and true", err, xdb.Saturated(db))
	}
	if err := outage.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := check(); err == nil {
		t.Error("CheckHealth = nil, want the error of the stopped server")
	}
	tx.Rollback()
	if err := outage.Start(); err != nil {
		t.Fatal(err)
	}
	if err := check(); err != nil || xdb.Saturated(db) {
		t.Errorf("CheckHealth = %v, Saturated = %t; want nil and false", err, xdb.Saturated(db))
	}
}

func TestCheckHealth_ConnectionLimit(t *testing.T) {
	owner, _, config := newDatabase(t)
	execAll(t, owner, "ALTER USER "+quoted(config.User)+"@'%' WITH MAX_USER_CONNECTIONS 2")
	db := open(t, logContext(t, io.Discard),
		xdb.Options{Parts: config, MaxOpenConns: 2, MaxIdleConns: 2})
	for range 2 {
		tx := db.Begin()
		if tx.Error != nil {
			t.Fatal(tx.Error)
		}
		defer tx.Rollback()
	}
	if err := xdb.CheckHealth(t.Context(), db); err != nil || !xdb.Saturated(db) {
		t.Errorf("CheckHealth = %v, Saturated = %t; want nil and true", err, xdb.Saturated(db))
	}
}
