// Package schedule computes the due times of a cron spec.
//
// The library interprets the spec on a calendar without time zones. This package maps the
// result to instants, so that one rule applies to skipped and repeated hours of every
// zone.
package schedule

import (
	"time"

	"github.com/netresearch/go-cron"
)

// Schedule computes due times. It is immutable.
type Schedule struct {
	every time.Duration      // the interval of @every, if spec is nil
	spec  *cron.SpecSchedule // in UTC, which neither skips nor repeats hours
	zone  *time.Location
	daily bool // the spec restricts hours: each time is due once a day
}

// Next returns the first due time after t in the schedule's zone, or the zero time.
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

// Location returns the time zone of the spec.
func (s *Schedule) Location() *time.Location { return s.zone }

// aligned returns the first time after t that is a multiple of the interval since
// 1970-01-01 00:00 UTC. All processes therefore have the same ticks.
func (s *Schedule) aligned(t time.Time) time.Time {
	seconds := int64(s.every / time.Second)
	n := t.Unix() / seconds
	if t.Unix() < 0 && t.Unix()%seconds != 0 {
		n--
	}
	return time.Unix((n+1)*seconds, 0).In(s.zone)
}

// nextOfDay is Next for a spec that restricts hours. A repeated time is due at its first
// occurrence. Skipped times are due together at the moment of the change.
func (s *Schedule) nextOfDay(t time.Time) time.Time {
	for day := s.spec.Next(calendar(t)); !day.IsZero(); day = s.spec.Next(day) {
		if at := s.moment(day); at.After(t) {
			return at
		}
	}
	return time.Time{}
}

// nextOfClock is Next for a spec for every hour: it is due whenever a wall clock shows
// one of its times. Repeated times are due twice, skipped times never.
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
		from = calendar(t).Add(-time.Second) // include the first instant
	}
	return time.Time{}
}

// maxBounds is the maximum number of zone changes to search: a century with two changes a
// year.
const maxBounds = 200

// moment returns the instant of a calendar time.
func (s *Schedule) moment(day time.Time) time.Time {
	at := time.Date(day.Year(), day.Month(), day.Day(), day.Hour(), day.Minute(), day.Second(), 0,
		s.zone)
	start, end := at.ZoneBounds()
	if calendar(at).Equal(day) {
		if !start.IsZero() { // it may be the second occurrence: check the offset before start
			_, offset := start.Add(-time.Second).Zone()
			if first := time.Unix(day.Unix()-int64(offset), 0); first.Before(start) {
				return first.In(s.zone)
			}
		}
		return at
	}
	// The zone skips this time. time.Date returned a time before or after the change.
	if calendar(at).Before(day) {
		return end.In(s.zone)
	}
	return start.In(s.zone)
}

// calendar returns the wall clock time of t as a time in UTC.
func calendar(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(),
		time.UTC)
}
