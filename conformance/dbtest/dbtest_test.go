package dbtest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// noop is a driver that accepts all calls and does nothing, so every check must fail.
type noop struct{}

func (noop) Name() string                      { return "noop" }
func (noop) InterfaceVersion() int             { return 0 }
func (noop) DSN(driver.Config) (string, error) { return "noop", nil }
func (noop) Dialector(string) gorm.Dialector   { return tests.DummyDialector{} }
func (noop) Advice(driver.Config) []string     { return nil }
func (noop) Describe(string) string            { return "" }
func (noop) ErrorKind(error) driver.ErrorKind  { return driver.Unknown }
func (noop) config(testing.TB) driver.Config   { return driver.Config{Pass: "hunter2"} }
func (noop) verify(*gorm.DB) error             { return errors.New("another database") }
func (d noop) unusable(testing.TB) map[string]driver.Config {
	return map[string]driver.Config{"x": {}}
}

func (d noop) specialText(testing.TB, string) (driver.Config, func(*gorm.DB) error) {
	return driver.Config{}, d.verify
}

func harness() dbtest.Harness {
	var d noop
	return dbtest.Harness{
		Driver:       d,
		Config:       d.config,
		InvalidParts: map[string]driver.Config{"empty": {}},
		Unusable:     d.unusable,
		SpecialText:  d.specialText,
		Slow:         "SELECT sleep(30)",
	}
}

func TestFailures(t *testing.T) {
	t.Run("reports every check for a driver without behavior", func(t *testing.T) {
		failures := dbtest.Failures(t, harness())
		for _, name := range dbtest.Cases() {
			// A driver that cannot open anything returns immediately.
			if len(failures[name]) == 0 && name != "Open/does not retry a permanent error" &&
				name != "Open/stops when the context is canceled" {
				t.Errorf("%s passed", name)
			}
		}
	})

	t.Run("validates the harness", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			change func(*dbtest.Harness)
			want   string
		}{
			{
				name:   "no driver",
				change: func(h *dbtest.Harness) { h.Driver = nil },
				want:   "no Driver",
			},
			{
				name:   "no configuration",
				change: func(h *dbtest.Harness) { h.Config = nil },
				want:   "no Config",
			},
			{
				name:   "no bad parts",
				change: func(h *dbtest.Harness) { h.InvalidParts = nil },
				want:   "no InvalidParts",
			},
			{
				name:   "no slow query",
				change: func(h *dbtest.Harness) { h.Slow = "" },
				want:   "no Slow",
			},
			{
				name: "an unknown difference",
				change: func(h *dbtest.Harness) {
					h.Differences = map[string]string{"lazy": "why not"}
				},
				want: `unknown difference "lazy"`,
			},
			{
				name: "no reason",
				change: func(h *dbtest.Harness) {
					h.Differences = map[string]string{dbtest.DiffPrivate: " "}
				},
				want: "has no reason",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				h := harness()
				tc.change(&h)
				got := dbtest.Failures(t, h)["Harness"]
				contains := func(s string) bool { return strings.Contains(s, tc.want) }
				if !slices.ContainsFunc(got, contains) {
					t.Errorf("problems = %q, want %q among them", got, tc.want)
				}
			})
		}
	})
}

func TestCases(t *testing.T) {
	names := dbtest.Cases()
	slices.Sort(names)
	if len(slices.Compact(names)) != len(dbtest.Cases()) {
		t.Error("two checks have the same name")
	}
}
