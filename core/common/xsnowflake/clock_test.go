package xsnowflake_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// bubble moves the epoch before the time at which a synctest bubble starts, which is the
// year 2000.
func bubble() xsnowflake.Option {
	l := xsnowflake.LayoutDefault
	l.Epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	return xsnowflake.WithLayout(l)
}

func TestAnInjectedClockTenSecondsBackIsAnErrorUntilItHasCaughtUp(t *testing.T) {
	clock := &manual{now: at}
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
	if err := n.NextN(make([]xsnowflake.SnowflakeID, 1), 0); !errors.Is(err, xsnowflake.ErrClock) {
		t.Errorf("NextN 6 s back = %v, want ErrClock", err)
	}
	clock.Add(2 * time.Second) // 4 s back: ridden out
	ids = append(ids, generate(t, n, 100)...)
	clock.Add(time.Minute)
	ids = append(ids, generate(t, n, 100)...)
	distinct(t, ids)
	if !slices.IsSorted(ids) {
		t.Error("the ids do not ascend")
	}
	if got := ids[len(ids)-1].Time(); !got.Equal(clock.Now()) {
		t.Errorf("the last id is of %v, want %v", got, clock.Now())
	}
}

func TestAWallClockSetBackIsRiddenOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, bubble())
		ids := generate(t, n, 10)
		n.StepWall(-2 * time.Second)
		start := time.Now()
		var met time.Duration
		for met == 0 {
			id := n.MustGenerate()
			ids = append(ids, id)
			// StepWall moved the epoch instead, so that ids show the time that the wall
			// clock had before.
			switch ahead := n.TimeOf(id).Sub(time.Now().Add(-2 * time.Second)); {
			case ahead <= 0:
				met = time.Since(start)
			case ahead > 2*time.Second+time.Millisecond:
				t.Fatalf("an id is %v ahead of the wall clock, want at most the step", ahead)
			}
			<-time.After(time.Millisecond)
		}
		if met < 3900*time.Millisecond || met > 4100*time.Millisecond {
			t.Errorf("the clocks met after %v, want twice the step", met)
		}
		distinct(t, ids)
		if !slices.IsSorted(ids) {
			t.Error("the ids do not ascend")
		}
	})
}

// While the clock is slewed a gene has half its numbers, and callers wait twice as long;
// not for ever.
func TestASaturatedNodeRidesOutAWallClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, bubble())
		ids := generate(t, n, 10)
		n.StepWall(-time.Second)
		start := time.Now()
		ids = append(ids, generate(t, n, 100*1024)...)
		if took := time.Since(start); took < 190*time.Millisecond || took > 210*time.Millisecond {
			t.Errorf("100 milliseconds' worth of ids took %v, want twice as much", took)
		}
		distinct(t, ids)
	})
}

func TestAWallClockSetBackBeyondTheBoundIsAnErrorUntilItHasCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, bubble())
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
		distinct(t, ids)
	})
}

// Nothing that was made is ahead of the wall clock here, so nothing can be repeated.
func TestAStepBackWhileIdleIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, bubble())
		ids := generate(t, n, 10)
		<-time.After(time.Hour)
		n.StepWall(-30 * time.Minute)
		ids = append(ids, generate(t, n, 10)...)
		distinct(t, ids)
		if got, want := n.TimeOf(ids[19]), time.Now().Add(-30*time.Minute); !got.Equal(want) {
			t.Errorf("the id is of %v, want %v", got, want)
		}
	})
}

func TestAWallClockSetForwardIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, bubble())
		generate(t, n, 10)
		n.StepWall(time.Minute)
		<-time.After(time.Millisecond)
		if got, want := n.TimeOf(n.MustGenerate()), time.Now().Add(time.Minute); !got.Equal(want) {
			t.Errorf("the id is of %v, want %v", got, want)
		}
	})
}

func TestATimeOutsideTheLayoutIsAnError(t *testing.T) {
	for _, tc := range []struct {
		name string
		now  time.Time
	}{
		{name: "before the epoch", now: time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)},
		{name: "after the last millisecond", now: time.Date(2094, 1, 1, 0, 0, 0, 0, time.UTC)},
		{name: "far away", now: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clock := &manual{now: tc.now}
			_, err := xsnowflake.NewNode(xsnowflake.WithNodeID(1), xsnowflake.WithClock(clock.Now))
			if !errors.Is(err, xsnowflake.ErrClock) {
				t.Errorf("NewNode = %v, want ErrClock", err)
			}
		})
	}
	clock := &manual{now: at}
	n := newNode(t, xsnowflake.WithClock(clock.Now))
	clock.Add(80 * 365 * 24 * time.Hour)
	if _, err := n.Generate(); !errors.Is(err, xsnowflake.ErrClock) {
		t.Errorf("Generate in 80 years = %v, want ErrClock", err)
	}
}
