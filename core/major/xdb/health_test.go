package xdb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestCheckHealth(t *testing.T) {
	rejected := errors.New("rejected")
	for _, tc := range []struct {
		name string
		pool int // size of the pool; one connection is in use
		kind driver.ErrorKind
		want error
	}{
		{
			name: "saturated pool, server at its connection limit",
			pool: 1, kind: driver.TooManyConnections,
		},
		{
			name: "saturated pool, unreachable server",
			pool: 1, kind: driver.Connection, want: rejected,
		},
		{
			name: "saturated pool, changed password",
			pool: 1, kind: driver.Authentication, want: rejected,
		},
		{name: "saturated pool, unknown error", pool: 1, kind: driver.Unknown, want: rejected},
		{
			name: "pool that may grow, server at its connection limit",
			pool: 2, kind: driver.TooManyConnections,
		},
		{
			name: "pool that may grow, unreachable server",
			pool: 2, kind: driver.Connection, want: rejected,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &fakeDriver{
				connect: func(_ context.Context, attempt int) error {
					if attempt == 1 {
						return nil
					}
					return rejected
				},
				kind: func(error) driver.ErrorKind { return tc.kind },
			}
			db, err := registryOf(f).Open(t.Context(),
				xdb.Options{Driver: "fake", MaxOpenConns: tc.pool})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = xdb.Close(db) })
			tx := db.Begin()
			t.Cleanup(func() { tx.Rollback() })
			if err := xdb.CheckHealth(t.Context(), db); !errors.Is(err, tc.want) {
				t.Errorf("CheckHealth = %v, want %v", err, tc.want)
			}
		})
	}
}
