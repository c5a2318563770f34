package oracle_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	go_ora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/oracle"
)

// slow is a self join of a view that any user may read.
const slow = "SELECT count(*) FROM all_objects a, all_objects b, all_objects c, all_objects d"

// partsOf converts the DSN of a server to a configuration.
func partsOf(dsn string) driver.Config {
	u, err := url.Parse(dsn)
	if err != nil {
		panic("invalid DSN of the test server")
	}
	port, _ := strconv.Atoi(cmp.Or(u.Port(), "1521"))
	pass, _ := u.User.Password()
	return driver.Config{
		Host: u.Hostname(), Port: port, User: u.User.Username(), Pass: pass,
		Source: xenv.Map{"DATABASE_SERVICE_NAME": strings.Trim(u.Path, "/")},
	}
}

// admin returns a connection of a user that may create users.
func admin(tb testing.TB, dsn string) *sql.DB {
	tb.Helper()
	db := sql.OpenDB(go_ora.NewConnector(dsn))
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// execAll executes statements.
func execAll(tb testing.TB, db *sql.DB, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			tb.Fatalf("%.30s: %v", s, err)
		}
	}
}

// users returns a function that creates a user whose name and password contain text, and
// drops the user after the test. Quoted names and passwords cannot contain a double
// quote; the function replaces it with an apostrophe.
func users(dsn string) func(testing.TB, string) (driver.Config, func(*gorm.DB) error) {
	var mu sync.Mutex
	number := 0
	return func(tb testing.TB, text string) (driver.Config, func(*gorm.DB) error) {
		tb.Helper()
		mu.Lock()
		number++
		name := fmt.Sprintf("t%d %s", number, strings.ReplaceAll(text, `"`, "'"))
		mu.Unlock()
		parts := partsOf(dsn)
		parts.User, parts.Pass = `"`+name+`"`, strings.ReplaceAll(text, `"`, "'")+"Aa1"
		db := admin(tb, dsn)
		execAll(tb, db, `CREATE USER `+parts.User+` IDENTIFIED BY "`+parts.Pass+`"`,
			`GRANT CREATE SESSION TO `+parts.User)
		tb.Cleanup(func() { dropUser(tb, db, parts.User) })
		return parts, func(db *gorm.DB) error {
			var got string
			if err := db.Raw("SELECT SYS_CONTEXT('USERENV', 'SESSION_USER') FROM DUAL").Scan(
				&got).Error; err != nil {
				return err
			}
			if got != name {
				return fmt.Errorf("the user is %q, want %q", got, name)
			}
			return nil
		}
	}
}

// dropUser retries until the user's last session has ended (ORA-01940).
func dropUser(tb testing.TB, db *sql.DB, name string) {
	tb.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-ticker.C {
		_, err := db.ExecContext(context.Background(), `DROP USER `+name+` CASCADE`)
		if err == nil {
			return
		}
		var serverErr *network.OracleError
		if !errors.As(err, &serverErr) || serverErr.ErrCode != 1940 || time.Now().After(deadline) {
			tb.Errorf("drop the user: %v", err)
			return
		}
	}
}

// version returns the name and version of the server.
func version(tb testing.TB, dsn string) string {
	tb.Helper()
	var text string
	row := admin(tb, dsn).QueryRowContext(context.Background(),
		"SELECT version FROM product_component_version FETCH NEXT 1 ROWS ONLY")
	if err := row.Scan(&text); err != nil {
		return err.Error()
	}
	return text
}

func TestDriver_Conformance(t *testing.T) {
	server := dbtest.FindServer(t, oracle.Name)
	parts := partsOf(server.DSN)
	dbtest.Run(t, dbtest.Harness{
		Driver:       oracle.Driver{},
		Config:       func(testing.TB) driver.Config { return parts },
		InvalidParts: bad,
		Unusable: func(testing.TB) map[string]driver.Config {
			// An unknown service is not unusable: a listener reports the same for a
			// starting database.
			wrongPass, unknownUser := parts, parts
			wrongPass.Pass += "wrong"
			unknownUser.User = "no_such_user"
			return map[string]driver.Config{
				"wrong password": wrongPass,
				"unknown user":   unknownUser,
			}
		},
		SpecialText: users(server.DSN),
		Outage:      func(tb testing.TB) dbtest.Outage { return dbtest.CutOff(tb, parts) },
		Slow:        slow,
		Source:      server.Source, Server: "Oracle " + version(t, server.DSN),
		Differences: map[string]string{
			dbtest.DiffEmptyIsNull: "Oracle stores an empty string as NULL",
			dbtest.DiffNoTLS: "the test containers have no TLS endpoint; " +
				"TestOpen_TLS tests the handshake with a listener",
		},
	})
}

// bad returns invalid configurations.
var bad = map[string]driver.Config{
	"no settings": {},
	"no user":     {Pass: "p", Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"}},
	"no service":  {User: "u", Pass: "p"},
	"a service name with parentheses": {
		User: "u", Pass: "p",
		Source: xenv.Map{"DATABASE_SERVICE_NAME": "s)(HOST=evil"},
	},
	"a database name with parentheses": {User: "u", Pass: "p", Name: "s)(HOST=evil"},
	"a service name with a slash": {
		User: "u", Pass: "p",
		Source: xenv.Map{"DATABASE_SERVICE_NAME": "a/b"},
	},
	"a host with parentheses": {
		Host: "h)(PORT=1", User: "u", Pass: "p",
		Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"},
	},
	"a port out of range": {
		Port: 65536, User: "u", Pass: "p",
		Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"},
	},
	"an unknown TLS mode": {
		User: "u", Pass: "p",
		Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"}, TLS: "prefer",
	},
	"a CA file without TLS": {
		User: "u", Pass: "p",
		Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"}, TLSCA: "ca.pem",
	},
}

func TestDriver_DSN_Errors(t *testing.T) {
	for name, parts := range bad {
		t.Run(name, func(t *testing.T) {
			if parts.Pass != "" {
				parts.Pass = secret
			}
			dsn, err := oracle.Driver{}.DSN(parts)
			if err == nil || !strings.Contains(err.Error(), "DATABASE_") ||
				strings.Contains(err.Error(), secret) {
				t.Errorf("DSN = %q, %v; want an error with a variable and without the password",
					dsn, err)
			}
		})
	}
	_, err := oracle.Driver{}.DSN(driver.Config{
		User: "u", Source: xenv.Map{"DATABASE_SERVICE_NAME": "s"},
	})
	if err == nil || !strings.Contains(err.Error(), "DATABASE_PASS") {
		t.Errorf("DSN without a password = %v, want an error with DATABASE_PASS", err)
	}
}
