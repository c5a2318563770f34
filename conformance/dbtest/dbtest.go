// Package dbtest is the conformance suite for database drivers. It defines the behavior
// that xdb requires of a database. A driver that passes Run can be used as
// DATABASE_DRIVER, and an application can change from one such driver to another.
//
//	func TestConformance(t *testing.T) {
//		dbtest.Run(t, dbtest.Harness{
//			Driver: mydb.Driver{}, Config: config, InvalidParts: bad, Slow: "SELECT sleep(30)",
//		})
//	}
//
// A driver declares its differences by name with a reason, see Harness.Differences.
package dbtest

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Harness configures the suite for one driver.
type Harness struct {
	// Driver is the driver under test.
	Driver driver.Driver

	// Config returns the DSN parts of a database that the suite may write to. Every check
	// calls it. It may return the same database each time, because each check creates
	// separate tables. It may skip the test if no server is available.
	Config func(tb testing.TB) driver.Config

	// InvalidParts maps names to parts that Driver.DSN must reject.
	InvalidParts map[string]driver.Config

	// Unusable maps names to parts that form a DSN but never connect, such as a wrong
	// password or an unknown database.
	Unusable func(tb testing.TB) map[string]driver.Config

	// SpecialText returns parts that contain text in a password, a name or a path, and
	// with which a database can be opened. verify returns an error unless db is that
	// database.
	SpecialText func(tb testing.TB, text string) (
		parts driver.Config, verify func(db *gorm.DB) error,
	)

	// TLS describes encrypted connections. If it is nil, DiffNoTLS must be declared.
	TLS *TLS

	// Outage returns a database whose server the suite may stop and start, see
	// PrivateOutage. If it is nil, DiffNoServer must be declared.
	Outage func(tb testing.TB) Outage

	// Slow is a query that runs longer than 20 s.
	Slow string

	// Source is the origin of the database of Config, and Server its version, for the
	// summary of the test run: "in process" and "SQLite 3.53.3". Without Source the run
	// is not reported.
	Source, Server string

	// Differences maps requirements that the database does not meet to the reasons. The
	// keys are the Diff constants. An unknown key or an empty reason fails the suite.
	Differences map[string]string
}

// The differences that a driver may declare.
const (
	// DiffPrivate: the database is visible only to its own pool.
	DiffPrivate = "private"
	// DiffNoCredentials: the database has no users, so no wrong password.
	DiffNoCredentials = "no-credentials"
	// DiffNoLength: the database stores strings longer than their column.
	DiffNoLength = "no-length"
	// DiffEmptyIsNull: the database stores an empty text as NULL.
	DiffEmptyIsNull = "empty-is-null"
	// DiffNoNUL: the database rejects strings with a NUL byte.
	DiffNoNUL = "no-nul"
	// DiffNoDecimal: the database has no exact decimal numbers.
	DiffNoDecimal = "no-decimal"
	// DiffNoServer: the database runs in the process and cannot be stopped.
	DiffNoServer = "no-server"
	// DiffNoTLS: the database is reached without a network.
	DiffNoTLS = "no-tls"
)

var differences = []string{
	DiffPrivate, DiffNoCredentials, DiffNoLength, DiffEmptyIsNull, DiffNoNUL, DiffNoDecimal,
	DiffNoServer, DiffNoTLS,
}

// TLS describes encrypted connections to the server.
type TLS struct {
	// CA is the PEM file of the CA certificate of the server. If it is "", the suite
	// tests only the mode require.
	CA string
	// Encrypted reports whether the session of db is encrypted.
	Encrypted func(db *gorm.DB) (bool, error)
}

type testCase struct {
	name string
	test func(testing.TB, *suite)
}

var cases = slices.Concat(
	openCases, schemaCases, migrationCases, errorCases, txCases,
	dataCases, valueCases, typeCases, writeCases, queryCases,
	lockCases, leaseCases, loadCases, logCases, tlsCases, outageCases,
)

// Run runs every check as a subtest of t.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for _, problem := range h.problems() {
		t.Error(problem)
	}
	if t.Failed() {
		return
	}
	if h.Source != "" {
		testreport.Record(t, &testreport.Run{
			Family:  "database",
			Backend: h.Driver.Name(),
			Source:  h.Source,
			Server:  h.Server,
			Tests:   len(cases),
		})
	}
	for name, reason := range h.Differences {
		t.Logf("declared difference %s: %s", name, reason)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, newSuite(t, h)) })
	}
}

// Cases returns the names of all checks.
func Cases() []string {
	names := make([]string, len(cases))
	for i, c := range cases {
		names[i] = c.name
	}
	return names
}

// Failures runs the named checks, or all, without failing tb, and returns their failures
// by check. The tests of the suite use it to check that a faulty driver does not pass.
func Failures(tb testing.TB, h Harness, names ...string) map[string][]string {
	tb.Helper()
	failures := map[string][]string{}
	if problems := h.problems(); len(problems) > 0 {
		failures["Harness"] = problems
		return failures
	}
	for _, c := range cases {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		run := func(tb testing.TB) { c.test(tb, newSuite(tb, h)) }
		if messages := record(tb, run); len(messages) > 0 {
			failures[c.name] = messages
		}
	}
	return failures
}

func (h Harness) problems() []string {
	var all []string
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Driver", h.Driver == nil},
		{"Config", h.Config == nil},
		{"InvalidParts", len(h.InvalidParts) == 0},
		{"Slow", h.Slow == ""},
		{"Unusable", h.Unusable == nil},
		{"SpecialText", h.SpecialText == nil},
	} {
		if field.missing {
			all = append(all, "dbtest: the harness has no "+field.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Differences)) {
		if !slices.Contains(differences, name) {
			all = append(all, fmt.Sprintf("dbtest: unknown difference %q (known: %s)",
				name, strings.Join(differences, ", ")))
		}
		if strings.TrimSpace(h.Differences[name]) == "" {
			all = append(all, fmt.Sprintf("dbtest: the difference %q has no reason", name))
		}
	}
	return all
}

func (h Harness) differs(name string) bool { return h.Differences[name] != "" }

// recorder is a testing.TB that records failures. Other methods use the embedded
// testing.TB.
type recorder struct {
	testing.TB

	failures []string
	cleanups []func()
	failed   bool
}

// record runs test to completion and returns its failures.
func record(tb testing.TB, test func(testing.TB)) []string {
	r := &recorder{TB: tb}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.cleanUp()
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		test(r)
	}()
	<-done
	return r.failures
}

func (r *recorder) cleanUp() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

// Cleanup implements testing.TB.
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// Error implements testing.TB.
func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

// Errorf implements testing.TB.
func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// Fatal implements testing.TB.
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// Fatalf implements testing.TB.
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// Failed implements testing.TB.
func (r *recorder) Failed() bool { return r.failed }

// Skip implements testing.TB.
func (r *recorder) Skip(...any) { runtime.Goexit() }

// Skipf implements testing.TB.
func (r *recorder) Skipf(string, ...any) { runtime.Goexit() }

// Logf implements testing.TB.
func (r *recorder) Logf(string, ...any) {}
