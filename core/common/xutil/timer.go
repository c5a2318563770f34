package xutil

import (
	"fmt"
	"strings"
	"time"
)

// Times works on times; get it with Timer.
type Times struct{}

// Timer returns the group that works on times.
func Timer() Times { return Times{} }

// Now returns the current time in UTC to the microsecond, which is what every supported
// database keeps, so that a stored time equals the one that was stored.
func (Times) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Parse reads RFC 3339, 2006-01-02 15:04:05, or 2006-01-02. The last two have no zone:
// they are in loc, and in UTC where loc is nil. The error is ErrParse.
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
