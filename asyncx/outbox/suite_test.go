package outbox_test

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/jobtest"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/conformance/dbtest"
)

// takeOver is short, so that the checks are fast, but long enough for a busy machine.
const takeOver = 3 * time.Second

func TestEngine_SQLite(t *testing.T) {
	jobtest.Run(t, jobtest.Harness{
		Open: func(tb testing.TB) jobtest.Store {
			tb.Helper()
			p := onFile(tb)
			return jobtest.Store{Connect: func(tb testing.TB) jobtest.Replica {
				tb.Helper()
				return p.replica(tb, outbox.WithTakeoverTimeout(takeOver))
			}}
		},
		Source: "file", Server: "SQLite",
	})
}

func TestEngine_PostgreSQL(t *testing.T) {
	t.Parallel()
	suiteOn(t, onPostgres)
}

func TestEngine_MySQL(t *testing.T) {
	t.Parallel()
	suiteOn(t, onMySQL)
}

// suiteOn runs the conformance suite on a server, over a network that the test can
// interrupt.
func suiteOn(t *testing.T, on func(tb testing.TB) testDatabase) {
	t.Helper()
	first := on(t)
	jobtest.Run(t, jobtest.Harness{
		Open: func(tb testing.TB) jobtest.Store {
			tb.Helper()
			p := on(tb)
			outage := dbtest.CutOff(tb, p.parts)
			p.parts = outage.Config
			do := func(fn func() error) func(tb testing.TB) {
				return func(tb testing.TB) {
					tb.Helper()
					if err := fn(); err != nil {
						tb.Fatal(err)
					}
				}
			}
			return jobtest.Store{
				Connect: func(tb testing.TB) jobtest.Replica {
					tb.Helper()
					return p.replica(tb, outbox.WithTakeoverTimeout(takeOver))
				},
				Stop: do(outage.Stop), Start: do(outage.Start),
			}
		},
		Source: first.source, Server: first.version,
	})
}
