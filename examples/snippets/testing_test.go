package snippets_test

import (
	"io"
	"testing"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
)

func TestOpen_PostgresDSN(t *testing.T) {
	t.Parallel()
	dsn, ok := xenv.GetEnv("PLINTH_TEST_POSTGRES_DSN")
	if !ok {
		t.Skip("PLINTH_TEST_POSTGRES_DSN is not set")
	}
	engine, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	db, err := xdb.Open(xlog.NewContext(t.Context(), engine),
		xdb.Options{Driver: "postgres", DSN: xlog.Secret(dsn)})
	if err != nil {
		t.Fatal(err)
	}
	if err := xdb.Close(db); err != nil {
		t.Error(err)
	}
}
