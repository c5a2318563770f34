package mysql

import (
	"database/sql"
	"testing"
	"time"

	gosql "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/conformance/dbtest"
)

func TestASessionOfAnotherServerIsNotEnded(t *testing.T) {
	cfg, err := parse(dbtest.FindServer(t, Name).DSN)
	if err != nil {
		t.Fatal("PLINTH_TEST_MYSQL_DSN does not parse")
	}
	plain, err := gosql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(plain)
	defer func() { _ = db.Close() }()
	for _, tc := range []struct {
		name   string
		server string // what is remembered of it, instead of the truth
		want   bool
	}{
		{name: "another server", server: "elsewhere:3306:1"},
		{name: "the same server", want: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			victim, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = victim.Close() }()
			var s session
			if err := victim.Raw(func(c any) (err error) {
				s, err = ask(t.Context(), c.(library))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if tc.server != "" {
				s.server = tc.server
			}
			start := time.Now()
			(&connector{cfg: cfg}).kill(place(cfg.Addr), s)
			if took := time.Since(start); took > killTimeout-time.Second {
				t.Errorf("it took %s", took)
			}
			if got := gone(t, victim); got != tc.want {
				t.Errorf("the session is gone: %t, want %t", got, tc.want)
			}
		})
	}
}

// gone reports whether a session ends soon.
func gone(tb testing.TB, c *sql.Conn) bool {
	tb.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for range 20 {
		if c.PingContext(tb.Context()) != nil {
			return true
		}
		<-again.C
	}
	return false
}

// place is the address of a TCP server.
type place string

// Network implements net.Addr.
func (place) Network() string { return "tcp" }

// String implements net.Addr.
func (a place) String() string { return string(a) }
