package river_test

import (
	"testing"

	"github.com/plinthgo/plinth/asyncx/job/jobtest"
	"github.com/plinthgo/plinth/conformance/dbtest"
)

// TestEngine runs the conformance suite. Each replica connects through its own network.
func TestEngine(t *testing.T) {
	server, all := testServer(t)
	jobtest.Run(t, jobtest.Harness{
		Open: func(tb testing.TB) jobtest.Store {
			tb.Helper()
			c := newDatabase(tb, all)
			var networks []dbtest.Outage
			each := func(tb testing.TB, do func(o dbtest.Outage) error) {
				tb.Helper()
				for _, o := range networks {
					if err := do(o); err != nil {
						tb.Fatal(err)
					}
				}
			}
			return jobtest.Store{
				Connect: func(tb testing.TB) jobtest.Replica {
					tb.Helper()
					network := dbtest.CutOff(tb, c)
					networks = append(networks, network)
					engine, ctx := replica(tb, network.Config)
					return jobtest.Replica{
						Engine: engine, Context: ctx,
						Disconnect: func(tb testing.TB) { tb.Helper(); must(tb, network.Stop()) },
						Reconnect:  func(tb testing.TB) { tb.Helper(); must(tb, network.Start()) },
					}
				},
				Stop: func(tb testing.TB) {
					tb.Helper()
					each(tb, func(o dbtest.Outage) error { return o.Stop() })
				},
				Start: func(tb testing.TB) {
					tb.Helper()
					each(tb, func(o dbtest.Outage) error { return o.Start() })
				},
			}
		},
		Source: server.Source, Server: version(t, admin(t, all)),
	})
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
