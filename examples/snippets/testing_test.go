package snippets_test

import (
	"io"
	"testing"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
)

func TestDatabaseOfTheVariableOpens(t *testing.T) {
	t.Parallel()
	dsn, ok := xEnv.GetEnv("PLINTH_TEST_POSTGRES_DSN")
	if !ok {
		t.Skip("PLINTH_TEST_POSTGRES_DSN is not set")
	}
	engine, err := xLog.New(xLog.Config{Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	db, err := xDB.Open(xLog.NewContext(t.Context(), engine), xDB.Options{Driver: "postgres", DSN: xLog.Secret(dsn)})
	if err != nil {
		t.Fatal(err)
	}
	if err := xDB.Close(db); err != nil {
		t.Error(err)
	}
}
