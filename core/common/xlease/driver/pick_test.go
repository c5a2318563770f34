package driver_test

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

func TestPick(t *testing.T) {
	type slot struct {
		left time.Duration
		mark int64
	}
	held := slot{left: time.Minute}
	for _, tc := range []struct {
		name         string
		slots        []slot
		first, begin int
		past         int64
		want         int
		wantWait     time.Duration
		wantOK       bool
	}{
		{
			name:  "search starts at begin",
			slots: []slot{{}, {}, {}}, begin: 1, want: 1, wantOK: true,
		},
		{
			name:  "search wraps around",
			slots: []slot{{}, held, held}, begin: 1, want: 0, wantOK: true,
		},
		{
			name:  "slots before first are ignored",
			slots: []slot{{}, held, {}}, first: 1, begin: 1, want: 2, wantOK: true,
		},
		{
			name:  "mark up to past is preferred",
			slots: []slot{{mark: 9}, {mark: 5}, {mark: 1}}, past: 5, want: 1, wantOK: true,
		},
		{
			name:  "smallest mark otherwise",
			slots: []slot{{mark: 9}, {mark: 5}, {mark: 7}}, past: 4, want: 1, wantOK: true,
		},
		{
			name:  "negative mark is smaller",
			slots: []slot{{mark: 0}, {mark: -3}}, past: -9, want: 1, wantOK: true,
		},
		{
			name:  "expired record",
			slots: []slot{held, {left: 0}}, want: 1, wantOK: true,
		},
		{
			name:  "wait for the first record",
			slots: []slot{{left: time.Hour}, {left: time.Second}, held}, wantWait: time.Second,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := driver.Request{
				First: tc.first, Count: len(tc.slots) - tc.first, Begin: tc.begin,
				Past: tc.past,
			}
			got, wait, ok := driver.Pick(r,
				func(at int) (time.Duration, int64) { return tc.slots[at].left, tc.slots[at].mark })
			if ok != tc.wantOK || ok && got != tc.want || !ok && wait != tc.wantWait {
				t.Errorf("Pick = %d, %s, %t; want %d, %s, %t",
					got, wait, ok, tc.want, tc.wantWait, tc.wantOK)
			}
		})
	}
}
