package mysql

import (
	"database/sql"
	"testing"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/core/major/xdb/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestALockThatIsNotGrantedIsALockTimeout(t *testing.T) {
	cfg, err := parse(dbtest.FindServer(t, Name).DSN)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gosql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(plain)
	defer func() { _ = db.Close() }()
	for _, want := range []driver.ErrorKind{driver.Unknown, driver.LockTimeout} {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if err := lock(t.Context(), conn, 0); driver.KindOf(err) != want {
			t.Errorf("lock = %v of kind %v, want %v", err, driver.KindOf(err), want)
		}
	}
}
