package dbtest

import (
	"testing"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/conformance/testserver"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Server is a database server that the suite may run on.
type Server struct {
	DSN    string // of a user who may create users and databases
	Source string // for Harness.Source
	CA     string // file of the certificate that has signed the server's, where that is known
}

// FindServer returns the server for a driver: PLINTH_TEST_POSTGRES_DSN for "postgres".
// Without one the test is skipped, and the table at the end of the project's test run
// says so.
func FindServer(tb testing.TB, name string) Server {
	tb.Helper()
	dsn, source, ok := testserver.Find(name)
	if !ok {
		reason := testserver.Variable(name).String() + " is not set"
		testreport.Record(tb, &testreport.Run{
			Family: "database", Backend: name, Source: "nothing",
			Reason: reason,
		})
		tb.Skip(reason + "; `make test` starts the servers whose binaries it finds on the machine")
	}
	return Server{DSN: dsn, Source: source, CA: xenv.GetEnvString(testserver.CA, "")}
}

// Outage is a database whose server can be stopped and started again under use.
type Outage struct {
	Config driver.Config
	Stop   func() error // returns when nothing answers any more
	Start  func() error // returns when the server answers again
}

// PrivateOutage starts a server that only this test uses, where the test command can
// start one, and stops that. parse turns its DSN into parts. Else it cuts the network in
// front of the server of parts.
func PrivateOutage(
	tb testing.TB, name string, parse func(dsn string) driver.Config, parts driver.Config,
) Outage {
	tb.Helper()
	if s, ok := testserver.Start(tb, name); ok {
		return Outage{Config: parse(s.DSN), Stop: s.Kill, Start: s.Start}
	}
	return CutOff(tb, parts)
}

// CutOff is an outage of the network in front of the server of parts, which need its host
// and port: connections break, and new ones are refused.
func CutOff(tb testing.TB, parts driver.Config) Outage {
	tb.Helper()
	r := beginRelay(tb, parts, "127.0.0.1:0")
	return Outage{Config: inFrontOf(tb, r, parts), Stop: r.Stop, Start: r.Start}
}
