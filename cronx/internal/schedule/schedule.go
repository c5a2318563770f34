// Package schedule turns a cron spec into the moments at which it is due.
//
// What a spec means is the library's: it is asked for times of day on a calendar without
// time zones. Which moments these are is decided here, so that the rule for the hours
// that a zone leaves out or has twice is one, for every zone.
package schedule

import (
	"time"

	"github.com/netresearch/go-cron"
)

// Schedule is when something is due. It is immutable.
type Schedule struct {
	every time.Duration      // the distance of ticks, where spec is nil
	spec  *cron.SpecSchedule // on the calendar of UTC, which has every hour once
	zone  *time.Location
	daily bool // the spec names hours: each of its times is due once a day
}

// Next returns the first moment after t at which the schedule is due, in its zone; the
// zero time where there is none.
func (s *Schedule) Next(t time.Time) time.Time {
	switch {
	case s.spec == nil:
		return s.aligned(t)
	case s.daily:
		return s.nextOfDay(t.In(s.zone))
	default:
		return s.nextOfClock(t.In(s.zone))
	}
}

// Location returns the zone in which the spec is read.
func (s *Schedule) Location() *time.Location { return s.zone }

// aligned returns the next multiple of the distance, counted from 1970-01-01 00:00 UTC:
// so every process has the same ticks, whenever it was started.
func (s *Schedule) aligned(t time.Time) time.Time {
	seconds := int64(s.every / time.Second)
	n := t.Unix() / seconds
	if t.Unix() < 0 && t.Unix()%seconds != 0 {
		n--
	}
	return time.Unix((n+1)*seconds, 0).In(s.zone)
}

// nextOfDay is Next for a spec that names hours. A time that the day has twice is due at
// the first of them; times that it leaves out are due together, at the moment at which
// the clock jumps.
func (s *Schedule) nextOfDay(t time.Time) time.Time {
	for day := s.spec.Next(calendar(t)); !day.IsZero(); day = s.spec.Next(day) {
		if at := s.moment(day); at.After(t) {
			return at
		}
	}
	return time.Time{}
}

// nextOfClock is Next for a spec for every hour: it is due whenever a clock on the wall
// shows one of its times, also for the second time, and not at times that the clock
// leaves out.
func (s *Schedule) nextOfClock(t time.Time) time.Time {
	from := calendar(t)
	for range maxBounds {
		_, offset := t.Zone()
		day := s.spec.Next(from)
		if day.IsZero() {
			return time.Time{}
		}
		at := time.Unix(day.Unix()-int64(offset), 0).In(s.zone)
		_, end := t.ZoneBounds()
		if end.IsZero() || at.Before(end) {
			return at
		}
		t = end.In(s.zone)
		from = calendar(t).Add(-time.Second) // so that its first moment counts
	}
	return time.Time{}
}

// maxBounds is how many changes of a zone are looked through: a century of two a year.
const maxBounds = 200

// moment returns when a time of the calendar is.
func (s *Schedule) moment(day time.Time) time.Time {
	at := time.Date(day.Year(), day.Month(), day.Day(), day.Hour(), day.Minute(), day.Second(), 0,
		s.zone)
	start, end := at.ZoneBounds()
	if calendar(at).Equal(day) {
		if !start.IsZero() { // it may be the second of two; before start the other offset held
			_, offset := start.Add(-time.Second).Zone()
			if first := time.Unix(day.Unix()-int64(offset), 0); first.Before(start) {
				return first.In(s.zone)
			}
		}
		return at
	}
	// The zone leaves it out. What time.Date returns is on one of the two sides of the
	// jump.
	if calendar(at).Before(day) {
		return end.In(s.zone)
	}
	return start.In(s.zone)
}

// calendar returns what clock and calendar show at t, as a time of UTC.
func calendar(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(),
		time.UTC)
}
