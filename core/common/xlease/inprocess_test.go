package xlease_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

func TestInProcess_Sweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		for _, tc := range []struct {
			name string
			opts []xlease.LeaseOption
			mark int64
		}{
			{name: "plain"},
			{name: "slots", opts: []xlease.LeaseOption{xlease.WithSlots(0, 2)}},
			{name: "marked", opts: []xlease.LeaseOption{xlease.WithMark(7, 0)}, mark: 7},
			{
				name: "marked-slots",
				opts: []xlease.LeaseOption{xlease.WithSlots(0, 2), xlease.WithMark(7, 0)}, mark: 7,
			},
		} {
			first := acquire(t, l, tc.name, append(tc.opts, xlease.WithManualRenewal())...)
			<-time.After(ttl + 3*driver.Retention) // the record expires
			checkErr(t, first, xlease.ErrLost)
			acquire(t, l, "other-"+tc.name) // triggers the sweep
			for range 2 {
				next, err := l.Lease(t.Context(), tc.name, ttl,
					append(tc.opts, xlease.WithSlots(first.Slot(), 1))...)
				if err != nil {
					t.Fatal(err)
				}
				if next.Token() <= first.Token() || next.Mark() != tc.mark {
					t.Errorf("%s: token %d after %d, mark %d, want a larger token and mark %d",
						tc.name, next.Token(), first.Token(), next.Mark(), tc.mark)
				}
				if err := next.Release(t.Context()); err != nil {
					t.Error(err)
				}
				first = next
			}
		}
	})
}
