package mysql_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb"
)

func TestCheckHealth_saturatedPool(t *testing.T) {
	outage := dbtest.CutOff(t, found(t))
	db := open(t, logged(t, io.Discard), xdb.Options{Parts: outage.Config, MaxOpenConns: 1})
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
		t.Error("CheckHealth = nil, want the error of the dead server")
	}
	tx.Rollback()
	if err := outage.Start(); err != nil {
		t.Fatal(err)
	}
	if err := check(); err != nil || xdb.Saturated(db) {
		t.Errorf("CheckHealth = %v, Saturated = %t; want nil and false", err, xdb.Saturated(db))
	}
}

func TestCheckHealth_serverConnectionLimit(t *testing.T) {
	owner, _, config := newDatabase(t)
	do(t, owner, "ALTER USER "+quoted(config.User)+"@'%' WITH MAX_USER_CONNECTIONS 2")
	db := open(t, logged(t, io.Discard),
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
