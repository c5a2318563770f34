package xdb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestOpen_FailedStatementLevel(t *testing.T) {
	for _, tc := range []struct {
		name  string
		wrap  func(ctx context.Context) context.Context
		kind  driver.ErrorKind
		level string
	}{
		{
			name: "ERROR outside a request",
			wrap: func(ctx context.Context) context.Context { return ctx },
			kind: driver.Syntax, level: "error",
		},
		{
			name: "WARN in a request",
			wrap: func(ctx context.Context) context.Context { return xctx.NewRequest(ctx, nil) },
			kind: driver.Syntax, level: "warn",
		},
		{
			name: "WARN for an unknown kind in a request",
			wrap: func(ctx context.Context) context.Context { return xctx.NewRequest(ctx, nil) },
			kind: driver.Unknown, level: "warn",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, out := logged(t)
			db, err := registryOf(&fakeDriver{
				query: func(context.Context, string) error { return errors.New("broken") },
				kind:  func(error) driver.ErrorKind { return tc.kind },
			}).Open(ctx, xdb.Options{Driver: "fake"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = xdb.Close(db) })
			if err := db.WithContext(tc.wrap(ctx)).Find(&[]item{}).Error; err == nil {
				t.Fatal("the statement succeeded")
			}
			line := `"level":"` + tc.level + `","name":"DATA","msg":"statement failed"`
			if all, got := out.count("statement failed"), out.count(line); all != 1 || got != 1 {
				t.Errorf("%d lines, %d at %s, want 1:\n%s", all, got, tc.level, out)
			}
		})
	}
}
