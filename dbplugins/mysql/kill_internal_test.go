package mysql

import (
	"database/sql"
	"testing"
	"time"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/conformance/dbtest"
)

func TestConnector_kill(t *testing.T) {
	cfg, err := parse(dbtest.FindServer(t, Name).DSN)
	if err != nil {
		t.Fatal("invalid PLINTH_TEST_MYSQL_DSN")
	}
	plain, err := gosql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(plain)
	defer func() { _ = db.Close() }()
	for _, tc := range []struct {
		name   string
		server string // replaces the server of the session, unless empty
		want   bool
	}{
		{name: "another server", server: "elsewhere:3306:1"},
		{name: "the same server", want: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			var s session
			if err := conn.Raw(func(c any) (err error) {
				s, err = querySession(t.Context(), c.(library))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if tc.server != "" {
				s.server = tc.server
			}
			start := time.Now()
			(&connector{cfg: cfg}).kill(tcpAddr(cfg.Addr), s)
			if elapsed := time.Since(start); elapsed > killTimeout-time.Second {
				t.Errorf("kill returned after %s", elapsed)
			}
			if got := closesSoon(t, conn); got != tc.want {
				t.Errorf("session closed = %t, want %t", got, tc.want)
			}
		})
	}
}

// closesSoon reports whether a session closes within 200 ms.
func closesSoon(tb testing.TB, c *sql.Conn) bool {
	tb.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range 20 {
		if c.PingContext(tb.Context()) != nil {
			return true
		}
		<-ticker.C
	}
	return false
}

// tcpAddr is the address of a TCP server.
type tcpAddr string

// Network implements net.Addr.
func (tcpAddr) Network() string { return "tcp" }

// String implements net.Addr.
func (a tcpAddr) String() string { return string(a) }
