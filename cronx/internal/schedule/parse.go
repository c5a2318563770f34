package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/netresearch/go-cron"
)

const (
	// maxSpec is the maximum length of a spec in bytes.
	maxSpec = 200
	// searchYears is how far ahead a spec may be due. The fifth Friday in February can be
	// 40 years away, because years such as 2100 are not leap years.
	searchYears = 41
)

// MaxEvery is the maximum interval of @every.
const MaxEvery = 366 * 24 * time.Hour

// parser reads five fields, or six that start with the second. newSchedule overrides its
// DowOrDom rule.
var parser = cron.MustNewParser(
	cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow |
		cron.Descriptor | cron.Extended | cron.DowOrDom).WithMaxSearchYears(searchYears)

// The names of the fields, and valid values for the other fields when one is checked.
var (
	names       = []string{"second", "minute", "hour", "day of month", "month", "day of week"}
	validFields = []string{"0", "0", "0", "*", "*", "*"}
)

// Parse parses a spec. zone applies to a spec without its own zone.
func Parse(spec string, zone *time.Location) (*Schedule, error) {
	spec = strings.TrimSpace(spec)
	switch {
	case spec == "":
		return nil, errors.New("empty spec")
	case len(spec) > maxSpec:
		return nil, fmt.Errorf("%d bytes (accepted: up to %d)", len(spec), maxSpec)
	}
	specZone, rest, err := splitZone(spec)
	if err != nil {
		return nil, err
	}
	if specZone != nil {
		zone = specZone
	}
	if interval, ok := strings.CutPrefix(rest, "@every"); ok {
		every, err := parseEvery(strings.TrimSpace(interval))
		return &Schedule{every: every, zone: zone}, err
	}
	starred := false
	if !strings.HasPrefix(rest, "@") {
		fields := strings.Fields(rest)
		if err := checkFields(fields); err != nil {
			return nil, err
		}
		starred = strings.ContainsAny(fields[len(fields)-3]+fields[len(fields)-1], "*?")
	}
	parsed, err := parser.Parse(rest)
	if err != nil {
		return nil, err
	}
	return newSchedule(parsed, zone, starred)
}

// newSchedule returns a schedule that evaluates the parsed spec in UTC. starred means
// that a day field contains a star. As in crontab(5), such a field is not restricted even
// with a step, and both day fields must match. The library treats */2 as a restriction.
func newSchedule(parsed cron.Schedule, zone *time.Location, starred bool) (*Schedule, error) {
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("unexpected schedule type %T", parsed)
	}
	spec := *fields
	spec.Location = time.UTC
	spec.DowOrDom = !starred
	const allHours = 1<<24 - 1
	s := &Schedule{spec: &spec, zone: zone, daily: spec.Hour&allHours != allHours}
	if s.spec.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, errors.New("no such date")
	}
	return s, nil
}

// splitZone splits a spec into the time zone of its prefix and the rest. Without a prefix
// zone is nil.
func splitZone(spec string) (zone *time.Location, rest string, err error) {
	first, rest := spec, ""
	if end := strings.IndexFunc(spec, unicode.IsSpace); end >= 0 {
		first, rest = spec[:end], spec[end:]
	}
	name, ok := strings.CutPrefix(first, "CRON_TZ=")
	if !ok {
		name, ok = strings.CutPrefix(first, "TZ=")
	}
	if !ok {
		return nil, spec, nil
	}
	rest = strings.TrimSpace(rest)
	switch {
	case name == "":
		return nil, "", errors.New("empty time zone")
	case rest == "":
		return nil, "", errors.New("no fields after the time zone")
	}
	zone, err = time.LoadLocation(name)
	if err != nil {
		return nil, "", fmt.Errorf(
			"time zone %q: %w (import time/tzdata if the system has no time zone database)",
			name, err)
	}
	return zone, rest, nil
}

// parseEvery parses the interval of @every.
func parseEvery(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > MaxEvery || d%time.Second != 0 {
		return 0, fmt.Errorf("@every %q (accepted: whole seconds, from 1s to %s)", text, MaxEvery)
	}
	return d, nil
}

// checkFields returns an error that names the invalid field, which the library's errors
// do not.
func checkFields(fields []string) error {
	if len(fields) != len(names) && len(fields) != len(names)-1 {
		return fmt.Errorf("%d fields "+
			"(accepted: 5, from minute to day of week, or 6, starting with second)", len(fields))
	}
	skipped := len(names) - len(fields)
	for i, field := range fields {
		if err := checkField(i+skipped, field); err != nil {
			return fmt.Errorf("field %d (%s) %q: %w", i+1, names[i+skipped], field, err)
		}
	}
	return nil
}

// checkField checks a single field, including forms that the library misinterprets.
func checkField(place int, field string) error {
	for part := range strings.SplitSeq(field, ",") {
		switch {
		case part == "":
			return errors.New("empty list entry")
		case (part[0] == '*' || part[0] == '?') && len(part) > 1 && part[1] != '/':
			return fmt.Errorf("%q is followed by %q (accepted: nothing, or a step as in */5)",
				part[:1], part[1:])
		}
	}
	fields := make([]string, len(validFields))
	copy(fields, validFields)
	fields[place] = field
	_, err := parser.Parse(strings.Join(fields, " "))
	var numErr *strconv.NumError
	switch {
	case !errors.As(err, &numErr):
		return err
	case numErr.Num == "":
		return errors.New("missing number")
	default:
		return fmt.Errorf("invalid number %q", numErr.Num)
	}
}
