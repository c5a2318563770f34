package xsnowflake_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// bubbleEpoch moves the epoch before the start time of synctest bubbles, the year 2000.
func bubbleEpoch() xsnowflake.Option {
	l := xsnowflake.LayoutDefault
	l.Epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	return xsnowflake.WithLayout(l)
}

func TestNode_Clock(t *testing.T) {
	t.Run("returns an error until an injected clock catches up", func(t *testing.T) {
		clock := &manualClock{now: at}
		n := newNode(t, xsnowflake.WithClock(clock.Now))
		ids := generate(t, n, 100)

		clock.Add(-10 * time.Second)
		for range 3 {
			if _, err := n.Generate(); !errors.Is(err, xsnowflake.ErrClock) {
				t.Fatalf("Generate = %v, want ErrClock", err)
			}
		}
		if err := n.CheckHealth(t.Context()); !errors.Is(err, xsnowflake.ErrClock) {
			t.Errorf("CheckHealth = %v, want ErrClock", err)
		}
		clock.Add(4 * time.Second)
		err := n.NextN(make([]xsnowflake.SnowflakeID, 1), 0)
		if !errors.Is(err, xsnowflake.ErrClock) {
			t.Errorf("NextN 6 s back = %v, want ErrClock", err)
		}
		clock.Add(2 * time.Second) // 4 s back, which is tolerated
		ids = append(ids, generate(t, n, 100)...)
		clock.Add(time.Minute)
		ids = append(ids, generate(t, n, 100)...)
		checkDistinct(t, ids)
		if !slices.IsSorted(ids) {
			t.Error("the ids are not ascending")
		}
		if got := ids[len(ids)-1].Time(); !got.Equal(clock.Now()) {
			t.Errorf("time of the last id = %v, want %v", got, clock.Now())
		}
	})

	t.Run("slews after a small step back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, bubbleEpoch())
			ids := generate(t, n, 10)
			n.StepWall(-2 * time.Second)
			start := time.Now()
			var caughtUp time.Duration
			for caughtUp == 0 {
				id := n.MustGenerate()
				ids = append(ids, id)
				// StepWall moved the epoch, so ids contain the former time of the wall
				// clock.
				switch ahead := n.TimeOf(id).Sub(time.Now().Add(-2 * time.Second)); {
				case ahead <= 0:
					caughtUp = time.Since(start)
				case ahead > 2*time.Second+time.Millisecond:
					t.Fatalf("an id is %v ahead of the wall clock, want at most the step", ahead)
				}
				<-time.After(time.Millisecond)
			}
			if caughtUp < 3900*time.Millisecond || caughtUp > 4100*time.Millisecond {
				t.Errorf("the clocks were equal after %v, want twice the step", caughtUp)
			}
			checkDistinct(t, ids)
			if !slices.IsSorted(ids) {
				t.Error("the ids are not ascending")
			}
		})
	})

	// While the clock is slewed, a gene has half its sequence numbers, and callers wait
	// twice as long, but not forever.
	t.Run("slews a saturated node", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, bubbleEpoch())
			ids := generate(t, n, 10)
			n.StepWall(-time.Second)
			start := time.Now()
			ids = append(ids, generate(t, n, 100*1024)...)
			if elapsed := time.Since(start); elapsed < 190*time.Millisecond ||
				elapsed > 210*time.Millisecond {
				t.Errorf("ids of 100 milliseconds took %v, want 200ms", elapsed)
			}
			checkDistinct(t, ids)
		})
	})

	t.Run("returns an error until the wall clock catches up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, bubbleEpoch())
			ids := generate(t, n, 10)
			n.StepWall(-10 * time.Second)
			<-time.After(2 * time.Millisecond)
			if _, err := n.Generate(); !errors.Is(err, xsnowflake.ErrClock) {
				t.Fatalf("Generate = %v, want ErrClock", err)
			}
			<-time.After(4900 * time.Millisecond)
			if _, err := n.Generate(); !errors.Is(err, xsnowflake.ErrClock) {
				t.Fatalf("Generate after 4.9 s = %v, want ErrClock", err)
			}
			<-time.After(200 * time.Millisecond)
			ids = append(ids, generate(t, n, 10)...)
			checkDistinct(t, ids)
		})
	})

	// No id is ahead of the wall clock, so no id can be repeated.
	t.Run("tolerates a step back while idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, bubbleEpoch())
			ids := generate(t, n, 10)
			<-time.After(time.Hour)
			n.StepWall(-30 * time.Minute)
			ids = append(ids, generate(t, n, 10)...)
			checkDistinct(t, ids)
			if got, want := n.TimeOf(ids[19]), time.Now().Add(-30*time.Minute); !got.Equal(want) {
				t.Errorf("time of the id = %v, want %v", got, want)
			}
		})
	})

	t.Run("follows a step forward", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, bubbleEpoch())
			generate(t, n, 10)
			n.StepWall(time.Minute)
			<-time.After(time.Millisecond)
			got, want := n.TimeOf(n.MustGenerate()), time.Now().Add(time.Minute)
			if !got.Equal(want) {
				t.Errorf("time of the id = %v, want %v", got, want)
			}
		})
	})

	t.Run("rejects times outside the layout", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			now  time.Time
		}{
			{name: "before the epoch", now: time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)},
			{name: "after the last millisecond", now: time.Date(2094, 1, 1, 0, 0, 0, 0, time.UTC)},
			{name: "far away", now: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
		} {
			t.Run(tc.name, func(t *testing.T) {
				clock := &manualClock{now: tc.now}
				_, err := xsnowflake.NewNode(xsnowflake.WithNodeID(1),
					xsnowflake.WithClock(clock.Now))
				if !errors.Is(err, xsnowflake.ErrClock) {
					t.Errorf("NewNode = %v, want ErrClock", err)
				}
			})
		}
		clock := &manualClock{now: at}
		n := newNode(t, xsnowflake.WithClock(clock.Now))
		clock.Add(80 * 365 * 24 * time.Hour)
		if _, err := n.Generate(); !errors.Is(err, xsnowflake.ErrClock) {
			t.Errorf("Generate in 80 years = %v, want ErrClock", err)
		}
	})
}
