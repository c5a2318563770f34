// Package dbtest is the conformance suite for database drivers. What it demands is the
// definition of how a database behaves behind xdb: a driver that passes may be named in
// DATABASE_DRIVER, and an application may change from one to another.
//
//	func TestConformance(t *testing.T) {
//		dbtest.Run(t, dbtest.Harness{Driver: mydb.Driver{}, Config: config, Bad: bad, Slow: "SELECT sleep(30)"})
//	}
//
// A driver that differs lawfully says so by name and with a reason, see
// Harness.Differences.
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

// Harness supplies one driver to the suite.
type Harness struct {
	// Driver is the driver under test.
	Driver driver.Driver

	// Config returns the parts of a database that the suite may write to. It is called
	// for every case; the database may be the same one each time, for every case has
	// tables of its own. It may skip the test where no server is reachable.
	Config func(tb testing.TB) driver.Config

	// Bad are parts that the driver's DSN refuses, by name.
	Bad map[string]driver.Config

	// Unusable are parts that make a DSN, but no connection however long one waits, by
	// name: a wrong password, an unknown database.
	Unusable func(tb testing.TB) map[string]driver.Config

	// SpecialText returns the parts of a database that can be opened and has text in a
	// password, a name or a path. verify says whether db, opened with them, is that very
	// database.
	SpecialText func(tb testing.TB, text string) (parts driver.Config, verify func(db *gorm.DB) error)

	// TLS says how the server is reached in an encrypted way. Without it DiffNoTLS has to
	// be declared.
	TLS *TLS

	// Outage returns a database whose server the suite may stop and start again, see
	// PrivateOutage. Without it DiffNoServer has to be declared.
	Outage func(tb testing.TB) Outage

	// Slow is a query that takes longer than 20 s unless it is ended.
	Slow string

	// Source says where the database of Config came from, and Server what it says it is,
	// for the table that ends the project's test run: "in process" and "SQLite 3.53.3".
	// Without a source the run is not reported.
	Source, Server string

	// Differences are the demands that the database lawfully does not meet, each with the
	// reason. The names are those of the constants DiffX; an unknown one, or one without
	// a reason, fails.
	Differences map[string]string
}

// The lawful differences.
const (
	// DiffPrivate is a database that only its own pool can see.
	DiffPrivate = "private"
	// DiffNoCredentials is a database without users: there is no wrong password.
	DiffNoCredentials = "no-credentials"
	// DiffNoLength is a database that keeps a text longer than its column.
	DiffNoLength = "no-length"
	// DiffEmptyIsNull is a database that keeps an empty text as NULL.
	DiffEmptyIsNull = "empty-is-null"
	// DiffNoNUL is a database that refuses a text with a NUL byte.
	DiffNoNUL = "no-nul"
	// DiffNoDecimal is a database without exact decimal numbers.
	DiffNoDecimal = "no-decimal"
	// DiffNoServer is a database in the process: nothing can be stopped under it.
	DiffNoServer = "no-server"
	// DiffNoTLS is a database that is reached without a network.
	DiffNoTLS = "no-tls"
)

var differences = []string{
	DiffPrivate, DiffNoCredentials, DiffNoLength, DiffEmptyIsNull, DiffNoNUL, DiffNoDecimal,
	DiffNoServer, DiffNoTLS,
}

// TLS is how the suite reaches a server in an encrypted way.
type TLS struct {
	// CA is the file of the PEM certificate that has signed the server's; "" where that
	// is not known, then only the mode require is tried.
	CA string
	// Encrypted reports whether the session of db is encrypted.
	Encrypted func(db *gorm.DB) (bool, error)
}

// testCase is one demand of the suite.
type testCase struct {
	name string
	test func(testing.TB, *suite)
}

// cases is the whole suite.
var cases = slices.Concat(
	openCases, schemaCases, migrationCases, errorCases, txCases, dataCases, valueCases, typeCases,
	writeCases, queryCases,
	lockCases, leaseCases, loadCases, logCases, tlsCases, outageCases,
)

// Run runs every case as a subtest of t.
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
			Backend: h.Driver.Name(), Source: h.Source, Server: h.Server, Tests: len(cases),
		})
	}
	for name, reason := range h.Differences {
		t.Logf("lawful difference %s: %s", name, reason)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, newSuite(t, h)) })
	}
}

// Cases returns the names of all cases.
func Cases() []string {
	names := make([]string, len(cases))
	for i, c := range cases {
		names[i] = c.name
	}
	return names
}

// Failures runs the named cases, or all, without failing tb, and returns what they
// complained of, by case. It is how the suite itself is tested: a driver with a fault
// must not pass.
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
		if complaints := record(tb,
			func(tb testing.TB) { c.test(tb, newSuite(tb, h)) }); len(complaints) > 0 {
			failures[c.name] = complaints
		}
	}
	return failures
}

// problems says what is wrong with the harness itself.
func (h Harness) problems() []string {
	var all []string
	for _, missing := range []struct {
		what   string
		absent bool
	}{
		{"Driver", h.Driver == nil},
		{"Config", h.Config == nil},
		{"Bad", len(h.Bad) == 0},
		{"Slow", h.Slow == ""},
		{"Unusable", h.Unusable == nil},
		{"SpecialText", h.SpecialText == nil},
	} {
		if missing.absent {
			all = append(all, "dbtest: the harness has no "+missing.what)
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

// differs reports whether the harness declares a difference.
func (h Harness) differs(name string) bool { return h.Differences[name] != "" }

// recorder is a testing.TB that keeps failures to itself. It embeds a real one for what
// does not fail.
type recorder struct {
	testing.TB

	complaints []string
	cleanups   []func()
	failed     bool
}

// record runs test to its end and returns its complaints.
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
	return r.complaints
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
	r.complaints = append(r.complaints, fmt.Sprintf(format, args...))
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
