package dbtest

import (
	"testing"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/conformance/testserver"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Server is a database server for the suite.
type Server struct {
	DSN    string // of a user with the privilege to create users and databases
	Source string // for Harness.Source
	CA     string // file of the CA certificate of the server; may be ""
}

// FindServer returns the server for a driver. For "postgres" it reads
// PLINTH_TEST_POSTGRES_DSN. If the variable is not set, FindServer skips the test and
// records the reason in the summary of the test run.
func FindServer(tb testing.TB, name string) Server {
	tb.Helper()
	dsn, source, ok := testserver.Find(name)
	if !ok {
		reason := testserver.Variable(name).String() + " is not set"
		testreport.Record(tb, &testreport.Run{
			Family:  "database",
			Backend: name,
			Source:  "nothing",
			Reason:  reason,
		})
		tb.Skip(reason + "; `make test` starts the servers whose binaries are installed")
	}
	return Server{DSN: dsn, Source: source, CA: xenv.GetEnvString(testserver.CA, "")}
}

// Outage is a database whose server can be stopped and started while it is in use.
type Outage struct {
	Config driver.Config
	Stop   func() error // returns when the server is unavailable
	Start  func() error // returns when the server is available
}

// PrivateOutage starts a private server and kills it for outages; parse converts its DSN
// to parts. If the test command cannot start a server, PrivateOutage returns
// CutOff(tb, parts).
func PrivateOutage(
	tb testing.TB, name string, parse func(dsn string) driver.Config, parts driver.Config,
) Outage {
	tb.Helper()
	if s, ok := testserver.Start(tb, name); ok {
		return Outage{Config: parse(s.DSN), Stop: s.Kill, Start: s.Start}
	}
	return CutOff(tb, parts)
}

// CutOff simulates a network failure in front of the server of parts, which must have a
// host and a port: connections break, and new ones are rejected.
func CutOff(tb testing.TB, parts driver.Config) Outage {
	tb.Helper()
	r := startRelay(tb, parts, "127.0.0.1:0")
	return Outage{Config: throughRelay(tb, r, parts), Stop: r.Stop, Start: r.Start}
}
