package jobtest_test

import (
	"testing"

	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
	"github.com/plinthgo/plinth/asyncx/job/jobtest"
)

func TestRun_Memory(t *testing.T) {
	if testing.Short() {
		t.Skip("slow test")
	}
	jobtest.Run(t, jobtest.Harness{
		Transaction: memory.Transaction,
		Open: func(testing.TB) jobtest.Store {
			m := memory.New()
			return jobtest.Store{
				Connect: func(testing.TB) jobtest.Replica {
					e := m.Connect()
					return jobtest.Replica{
						Engine:     e,
						Disconnect: func(testing.TB) { e.SetAway(true) },
						Reconnect:  func(testing.TB) { e.SetAway(false) },
					}
				},
				Stop:  func(testing.TB) { m.SetDown(true) },
				Start: func(testing.TB) { m.SetDown(false) },
			}
		},
	})
}
