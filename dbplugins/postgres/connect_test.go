package postgres_test

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// ping returns the error of the first connection to a DSN.
func ping(t *testing.T, dsn string) error {
	t.Helper()
	db, err := gorm.Open(postgres.Driver{}.Dialector(dsn),
		&gorm.Config{DisableAutomaticPing: true, Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
	}()
	return pool.PingContext(t.Context())
}

// closedPort returns a loopback port without a listener.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestConnector_Errors(t *testing.T) {
	t.Run("are short and on one line", func(t *testing.T) {
		port := closedPort(t)
		folder := t.TempDir()
		for _, tc := range []struct{ name, dsn, want string }{
			{
				name: "connection refused",
				dsn:  "postgres://user:secret@127.0.0.1:" + port + "/name?sslmode=disable",
				want: "connection failed: 127.0.0.1:" + port + ": connection refused",
			},
			{
				name: "sslmode prefer",
				dsn:  "postgres://user:secret@127.0.0.1:" + port + "/name?sslmode=prefer",
				want: "connection failed: 127.0.0.1:" + port + ": connection refused",
			},
			{
				name: "several addresses",
				dsn: "postgres://user:secret@127.0.0.1,127.0.0.2/name?port=" + port +
					"&sslmode=disable",
				want: "connection failed: 127.0.0.1:" + port + ": connection refused; " +
					"127.0.0.2:" + port + ": connection refused",
			},
			{
				name: "missing socket",
				dsn:  "host=" + folder + " port=1 user=user password=secret dbname=name",
				want: "connection failed: " + folder + "/.s.PGSQL.1: no such file or directory",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := ping(t, tc.dsn)
				var connect *pgconn.ConnectError
				if err == nil || err.Error() != tc.want ||
					driver.KindOf(err) != driver.Connection ||
					!errors.As(err, &connect) {
					t.Errorf("error = %v of kind %q, want %q", err, driver.KindOf(err), tc.want)
				}
			})
		}
	})

	t.Run("contain the name of an unknown host", func(t *testing.T) {
		err := ping(t, "postgres://user:secret@no-such-host.invalid/name?sslmode=disable")
		const want = "connection failed: no-such-host.invalid: "
		if err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.ContainsAny(err.Error(), "\n`") {
			t.Errorf("error = %v, want the host and the cause", err)
		}
	})

	t.Run("describe another protocol", func(t *testing.T) {
		for _, tc := range []struct{ name, response, want string }{
			{
				name: "unexpected message", response: "1\x00\x00\x00\x04",
				want: "received unexpected message",
			},
			{
				name: "HTTP", response: "HTTP/1.1 400 Bad Request\r\n\r\n",
				want: "failed to receive message: ",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan struct{})
				go func() {
					defer close(done)
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					_, _ = conn.Read(make([]byte, 1<<10))
					_, _ = conn.Write([]byte(tc.response))
					_ = conn.Close()
				}()
				err = ping(t, "postgres://user:secret@"+listener.Addr().String()+
					"/name?sslmode=disable")
				_ = listener.Close()
				<-done
				want := "connection failed: " + listener.Addr().String() + ": " + tc.want
				if err == nil || !strings.HasPrefix(err.Error(), want) ||
					strings.ContainsAny(err.Error(), "\n!`") {
					t.Errorf("error = %v, want %q", err, want)
				}
			})
		}
	})

	t.Run("list the variables to check", func(t *testing.T) {
		server, config := find(t)
		address := net.JoinHostPort(config.Host, strconv.Itoa(config.Port))
		for _, tc := range []struct {
			name   string
			change func(c *driver.Config)
			want   string
		}{
			{
				name:   "wrong password",
				change: func(c *driver.Config) { c.Pass = "wrong-" + c.Pass },
				want: driver.Authentication.String() + ": " + address +
					`: password authentication failed for user "` + config.User + `"` +
					" (DATABASE_USER, DATABASE_PASS or DATABASE_DSN)",
			},
			{
				name: "unknown user", change: func(c *driver.Config) { c.User = "no such user" },
				want: driver.Authentication.String() + ": " + address +
					`: password authentication failed for user "no such user"` +
					" (DATABASE_USER, DATABASE_PASS or DATABASE_DSN)",
			},
			{
				name:   "unknown database",
				change: func(c *driver.Config) { c.Name = "no such database" },
				want: "database cannot be opened: " + address +
					`: database "no such database" does not exist (DATABASE_NAME or DATABASE_DSN)`,
			},
			{
				name: "unknown time zone",
				change: func(c *driver.Config) {
					c.Source = xenv.Map{"DATABASE_TIMEZONE": "Mars/Olympus_Mons"}
				},
				want: "connection failed: " + address +
					`: invalid value for parameter "TimeZone": "Mars/Olympus_Mons" (DATABASE_TIMEZONE or DATABASE_DSN)`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				c := config
				tc.change(&c)
				db, log, err := openLogged(t, xdb.Options{Parts: c})
				if err == nil {
					t.Fatal("Open: error = nil", xdb.Close(db))
				}
				if !strings.HasSuffix(err.Error(), ": "+tc.want) ||
					strings.Contains(log.String(), "not reachable yet") {
					t.Errorf("error = %q, want %q at the first attempt\n%s", err, tc.want, log)
				}
			})
		}
		t.Run("untrusted certificate", func(t *testing.T) {
			rejectsCertificate(t, server, config)
		})
	})
}

func rejectsCertificate(t *testing.T, server dbtest.Server, config driver.Config) {
	t.Helper()
	if server.CA == "" {
		t.Skip("the test server does not support TLS")
	}
	config.TLS = driver.TLSVerifyFull
	db, log, err := openLogged(t, xdb.Options{Parts: config})
	if err == nil {
		t.Fatal("Open: error = nil", xdb.Close(db))
	}
	if !strings.HasSuffix(err.Error(),
		"x509: certificate signed by unknown authority (DATABASE_TLS_CA or DATABASE_DSN)") ||
		strings.Contains(log.String(), "not reachable yet") {
		t.Errorf("error = %q, want the variable at the first attempt\n%s", err, log)
	}
}
