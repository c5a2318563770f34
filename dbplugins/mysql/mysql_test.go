package mysql_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	gosql "github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

// configOf converts the DSN of a test server to a configuration.
func configOf(tb testing.TB, dsn string) driver.Config {
	tb.Helper()
	cfg := parseDSN(tb, dsn)
	c := driver.Config{Host: cfg.Addr, User: cfg.User, Pass: cfg.Passwd, Name: cfg.DBName}
	if host, port, err := net.SplitHostPort(cfg.Addr); err == nil {
		c.Host = host
		c.Port, _ = strconv.Atoi(port)
	}
	return c
}

// parseDSN parses the DSN of a test server. Failures do not print it, because it contains
// a password.
func parseDSN(tb testing.TB, dsn string) *gosql.Config {
	tb.Helper()
	defer func() {
		if recover() != nil { // the library panics if the DSN has the parameter strict
			failParse(tb)
		}
	}()
	cfg, err := gosql.ParseDSN(dsn)
	if err != nil {
		failParse(tb)
	}
	return cfg
}

func failParse(tb testing.TB) {
	tb.Helper()
	tb.Fatal("invalid PLINTH_TEST_MYSQL_DSN: want user:password@tcp(host:port)/name")
}

// serverConfig returns the configuration of the test server, or skips the test.
func serverConfig(tb testing.TB) driver.Config {
	tb.Helper()
	return configOf(tb, dbtest.FindServer(tb, mysql.Name).DSN)
}

// admin returns a pool that uses the library without Plinth.
func admin(tb testing.TB, dsn string) *sql.DB {
	tb.Helper()
	connector, err := gosql.NewConnector(parseDSN(tb, dsn))
	if err != nil {
		tb.Fatal(err)
	}
	db := sql.OpenDB(connector)
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// execAll executes statements, also during cleanup.
func execAll(tb testing.TB, db *sql.DB, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(context.WithoutCancel(tb.Context()), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

func harness(tb testing.TB) dbtest.Harness {
	tb.Helper()
	server := dbtest.FindServer(tb, mysql.Name)
	c := configOf(tb, server.DSN)
	db := admin(tb, server.DSN)
	return dbtest.Harness{
		Driver: mysql.Driver{},
		Config: func(testing.TB) driver.Config { return c },
		InvalidParts: map[string]driver.Config{
			"no user":             {Name: c.Name},
			"no name":             {User: c.User},
			"a user with a colon": {User: "a:b", Name: c.Name},
			"a host with an at":   {Host: "a@b", User: c.User, Name: c.Name},
			"a port out of range": {Port: 65536, User: c.User, Name: c.Name},
			"a charset with SQL": {
				User: c.User, Name: c.Name,
				Source: xenv.Map{"DATABASE_CHARSET": "utf8mb4; DROP TABLE x"},
			},
			"TLS on a socket": {
				Host: "/run/mysqld/mysqld.sock", User: c.User, Name: c.Name,
				TLS: driver.TLSVerifyFull,
			},
		},
		Unusable: func(testing.TB) map[string]driver.Config {
			wrong, unknown, charset := c, c, c
			wrong.Pass, unknown.Name = "wrong-password", "no_such_database"
			charset.Source = xenv.Map{"DATABASE_CHARSET": "no_such_charset"}
			return map[string]driver.Config{
				"wrong password":        wrong,
				"unknown database":      unknown,
				"unknown character set": charset,
			}
		},
		SpecialText: func(tb testing.TB, text string) (driver.Config, func(*gorm.DB) error) {
			return specialName(tb, db, c, text)
		},
		TLS: &dbtest.TLS{CA: server.CA, Encrypted: func(db *gorm.DB) (bool, error) {
			var name, cipher string
			err := db.Raw("SHOW SESSION STATUS LIKE 'Ssl_cipher'").Row().Scan(&name, &cipher)
			return cipher != "", err
		}},
		Outage: func(tb testing.TB) dbtest.Outage {
			return dbtest.PrivateOutage(tb, mysql.Name,
				func(dsn string) driver.Config { return configOf(tb, dsn) }, c)
		},
		Slow:   "SELECT SLEEP(30)",
		Source: server.Source, Server: version(tb, db),
	}
}

// version returns the name and version of the server.
func version(tb testing.TB, db *sql.DB) string {
	tb.Helper()
	var text string
	if err := db.QueryRowContext(tb.Context(), "SELECT VERSION()").Scan(&text); err != nil {
		tb.Fatal(err)
	}
	number, _, _ := strings.Cut(text, "-")
	if strings.Contains(text, "MariaDB") {
		return "MariaDB " + number
	}
	return "MySQL " + number
}

// specialName creates a user whose password is text, and a database whose name contains
// text if the server permits it.
func specialName(
	tb testing.TB, db *sql.DB, c driver.Config, text string,
) (driver.Config, func(*gorm.DB) error) {
	tb.Helper()
	user := "plinth awkward@" + rand.Text()[:8]
	c.User, c.Pass = user, text
	grantee := quoted(user) + "@'%'"
	execAll(tb, db, "CREATE USER "+grantee+" IDENTIFIED BY "+quoted(text))
	tb.Cleanup(func() { execAll(tb, db, "DROP USER "+grantee) })
	// a database name cannot end with a space or contain a supplementary character
	if !strings.HasSuffix(text, " ") && !strings.Contains(text, "🔑") {
		_, first := utf8.DecodeRuneInString(text)
		// the log may contain the name, but not the password
		c.Name = "plinth_" + text[:first] + rand.Text()[:8] + text[first:]
		name := "`" + strings.ReplaceAll(c.Name, "`", "``") + "`"
		execAll(tb, db, "CREATE DATABASE "+name)
		tb.Cleanup(func() { execAll(tb, db, "DROP DATABASE "+name) })
	}
	execAll(tb, db, "GRANT ALL ON *.* TO "+grantee)
	return c, func(db *gorm.DB) error {
		var name, account string
		if err := db.Raw("SELECT DATABASE(), USER()").Row().Scan(&name, &account); err != nil {
			return err
		}
		if name != c.Name || !strings.HasPrefix(account, user) {
			return fmt.Errorf("database %q of %q", name, account)
		}
		return nil
	}
}

// quoted returns an SQL string literal.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(text) + "'"
}

func TestDriver_Conformance(t *testing.T) { dbtest.Run(t, harness(t)) }
