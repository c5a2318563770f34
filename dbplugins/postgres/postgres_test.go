package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// slow is a statement that sleeps.
const slow = "SELECT pg_sleep(30)"

func harness(tb testing.TB) dbtest.Harness {
	tb.Helper()
	server, config := find(tb)
	return dbtest.Harness{
		Driver:       postgres.Driver{},
		Config:       func(testing.TB) driver.Config { return config },
		InvalidParts: bad(),
		Unusable:     func(testing.TB) map[string]driver.Config { return unusable(config) },
		SpecialText: func(tb testing.TB, text string) (driver.Config, func(*gorm.DB) error) {
			c := newDatabase(tb, server, text, "")
			return c, verify(c)
		},
		TLS: &dbtest.TLS{CA: server.CA, Encrypted: func(db *gorm.DB) (encrypted bool, err error) {
			const query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
			err = db.Raw(query).Scan(&encrypted).Error
			return encrypted, err
		}},
		Outage: func(tb testing.TB) dbtest.Outage {
			return dbtest.PrivateOutage(tb, postgres.Name, configOf, config)
		},
		Slow:   slow,
		Source: server.Source, Server: version(tb, admin(tb, server.DSN)),
		Differences: map[string]string{
			dbtest.DiffNoNUL: "PostgreSQL rejects NUL bytes in strings",
		},
	}
}

// bad returns invalid configurations.
func bad() map[string]driver.Config {
	good := driver.Config{Host: "localhost", User: "u", Name: "n"}
	all := map[string]driver.Config{}
	for name, change := range map[string]func(c *driver.Config){
		"no user":              func(c *driver.Config) { c.User = "" },
		"no name":              func(c *driver.Config) { c.Name = "" },
		"NUL byte in the user": func(c *driver.Config) { c.User = "u\x00database\x00evil" },
		"NUL byte in the name": func(c *driver.Config) { c.Name = "n\x00" },
		"NUL byte in the host": func(c *driver.Config) { c.Host = "h\x00" },
		"NUL byte in the time zone": func(c *driver.Config) {
			c.Source = xenv.Map{"DATABASE_TIMEZONE": "UTC\x00"}
		},
		"host with a port":      func(c *driver.Config) { c.Host = "localhost:5433" },
		"host that is a URL":    func(c *driver.Config) { c.Host = "postgres://localhost" },
		"host with a user":      func(c *driver.Config) { c.Host = "evil@localhost" },
		"host with a parameter": func(c *driver.Config) { c.Host = "localhost/?host=evil" },
		"host with a space":     func(c *driver.Config) { c.Host = "x host=evil" },
		"port out of range":     func(c *driver.Config) { c.Port = 65536 },
		"negative port":         func(c *driver.Config) { c.Port = -1 },
		"unknown TLS mode":      func(c *driver.Config) { c.TLS = "prefer" },
		"unused CA": func(c *driver.Config) {
			c.TLS, c.TLSCA = "require", "postgres.go"
		},
		"missing CA file": func(c *driver.Config) {
			c.TLS, c.TLSCA = "verify-full", "no-such-file"
		},
		"invalid CA file": func(c *driver.Config) {
			c.TLS, c.TLSCA = "verify-full", "postgres.go"
		},
		"TLS through a Unix socket": func(c *driver.Config) {
			c.Host, c.TLS = "/run/postgresql", "require"
		},
	} {
		c := good
		change(&c)
		all[name] = c
	}
	return all
}

// unusable returns configurations that the server rejects.
func unusable(config driver.Config) map[string]driver.Config {
	all := map[string]driver.Config{}
	for name, change := range map[string]func(c *driver.Config){
		"wrong password":   func(c *driver.Config) { c.Pass = "wrong-" + c.Pass },
		"empty password":   func(c *driver.Config) { c.Pass = "" },
		"unknown database": func(c *driver.Config) { c.Name = "no such database" },
		"unknown user":     func(c *driver.Config) { c.User = "no such user" },
		"unknown time zone": func(c *driver.Config) {
			c.Source = xenv.Map{"DATABASE_TIMEZONE": "Mars/Olympus_Mons"}
		},
	} {
		c := config
		change(&c)
		all[name] = c
	}
	return all
}

func TestDriver_Conformance(t *testing.T) { dbtest.Run(t, harness(t)) }

func TestDriver_Conformance_UnixSocket(t *testing.T) {
	server, config := find(t)
	config = throughSocket(t, config)
	h := harness(t)
	h.Source = "" // the server is the same as in TestDriver_Conformance
	h.Config = func(testing.TB) driver.Config { return config }
	h.SpecialText = func(tb testing.TB, text string) (driver.Config, func(*gorm.DB) error) {
		c := newDatabase(tb, server, text, "")
		c.Host = config.Host
		return c, verify(c)
	}
	h.Unusable = func(testing.TB) map[string]driver.Config { return unusable(config) }
	h.TLS, h.Outage = nil, nil
	h.Differences[dbtest.DiffNoTLS] = "PostgreSQL does not encrypt connections on a Unix socket"
	h.Differences[dbtest.DiffNoServer] = "TestDriver_Conformance tests an outage of the same server"
	cases := slices.DeleteFunc(dbtest.Cases(), func(name string) bool {
		// the other checks also run over TCP
		return !strings.HasPrefix(name, "Open/") && !strings.HasPrefix(name, "Errors/")
	})
	for name, failures := range dbtest.Failures(t, h, cases...) {
		t.Errorf("%s: %q", name, failures)
	}
}
