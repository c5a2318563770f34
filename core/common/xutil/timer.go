package xutil

import (
	"fmt"
	"strings"
	"time"
)

// Times provides time helpers. See Timer.
type Times struct{}

// Timer returns the Times group.
func Timer() Times { return Times{} }

// Now returns the current time in UTC, truncated to microseconds. All supported databases
// store microseconds, so a stored time equals the original.
func (Times) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Parse parses RFC 3339, 2006-01-02 15:04:05 or 2006-01-02. It interprets the last two
// formats in loc, or in UTC if loc is nil. The error wraps ErrParse.
func (Times) Parse(text string, loc *time.Location) (time.Time, error) {
	if loc == nil {
		loc = time.UTC
	}
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, loc); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: not a time (accepted: RFC 3339, %s, %s)",
		ErrParse, time.DateTime, time.DateOnly)
}
