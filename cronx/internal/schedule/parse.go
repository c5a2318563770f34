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
	// maxSpec is the length up to which a spec is read, and quoted.
	maxSpec = 200
	// searchYears is how far ahead a spec may be due next: a fifth Friday in February
	// comes 40 years after the last where a century lies between.
	searchYears = 41
)

// MaxEvery is the longest distance of @every.
const MaxEvery = 366 * 24 * time.Hour

// parser reads five fields, or six that begin with seconds. Where both days are
// restricted either is enough; newSchedule says where they are.
var parser = cron.MustNewParser(
	cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow |
		cron.Descriptor | cron.Extended | cron.DowOrDom).WithMaxSearchYears(searchYears)

// The names of the fields, and what stands in for one while another is looked at.
var (
	names = []string{"second", "minute", "hour", "day of month", "month", "day of week"}
	plain = []string{"0", "0", "0", "*", "*", "*"}
)

// Parse reads a spec. zone is that of a spec without one of its own.
func Parse(spec string, zone *time.Location) (*Schedule, error) {
	spec = strings.TrimSpace(spec)
	switch {
	case spec == "":
		return nil, errors.New("it is empty")
	case len(spec) > maxSpec:
		return nil, fmt.Errorf("it has %d bytes (accepted: up to %d)", len(spec), maxSpec)
	}
	own, rest, err := ownZone(spec)
	if err != nil {
		return nil, err
	}
	if own != nil {
		zone = own
	}
	if distance, ok := strings.CutPrefix(rest, "@every"); ok {
		every, err := parseEvery(strings.TrimSpace(distance))
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

// newSchedule puts what the library has read onto the calendar without zones. starred
// says that a field of days contains a star, also one with a step: then it does not count
// as restricted, as in crontab(5), and both days have to fit. The library holds */2 for a
// restriction.
func newSchedule(parsed cron.Schedule, zone *time.Location, starred bool) (*Schedule, error) {
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("it is a %T", parsed)
	}
	spec := *fields
	spec.Location = time.UTC
	spec.DowOrDom = !starred
	const allHours = 1<<24 - 1
	s := &Schedule{spec: &spec, zone: zone, daily: spec.Hour&allHours != allHours}
	if s.spec.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, errors.New("there is no such date")
	}
	return s, nil
}

// ownZone splits the zone off that a spec may begin with; nil where there is none.
func ownZone(spec string) (zone *time.Location, rest string, err error) {
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
		return nil, "", errors.New("its time zone is empty")
	case rest == "":
		return nil, "", errors.New("nothing follows its time zone")
	}
	zone, err = time.LoadLocation(name)
	if err != nil {
		return nil, "", fmt.Errorf(
			"its time zone %q: %w (a program that runs without the system's zones imports time/tzdata)", name, err)
	}
	return zone, rest, nil
}

// parseEvery reads the distance of @every.
func parseEvery(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > MaxEvery || d%time.Second != 0 {
		return 0, fmt.Errorf("@every %q (accepted: whole seconds, from 1s to %s)", text, MaxEvery)
	}
	return d, nil
}

// checkFields names the field that is wrong, which the library's errors do not.
func checkFields(fields []string) error {
	if len(fields) != len(names) && len(fields) != len(names)-1 {
		return fmt.Errorf("its number of fields is %d (accepted: 5, from minute to day of week, or 6, which begin with second)",
			len(fields))
	}
	skipped := len(names) - len(fields)
	for i, field := range fields {
		if err := checkField(i+skipped, field); err != nil {
			return fmt.Errorf("field %d (%s) %q: %w", i+1, names[i+skipped], field, err)
		}
	}
	return nil
}

// checkField looks at one field by itself, also for what the library reads as something
// else.
func checkField(place int, field string) error {
	for part := range strings.SplitSeq(field, ",") {
		switch {
		case part == "":
			return errors.New("a list has an empty entry")
		case (part[0] == '*' || part[0] == '?') && len(part) > 1 && part[1] != '/':
			return fmt.Errorf("%q is followed by %q (accepted: nothing, or a step as in */5)",
				part[:1], part[1:])
		}
	}
	alone := make([]string, len(plain))
	copy(alone, plain)
	alone[place] = field
	_, err := parser.Parse(strings.Join(alone, " "))
	var wrong *strconv.NumError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Num == "":
		return errors.New("a number is missing")
	default:
		return fmt.Errorf("%q is no number that is accepted here", wrong.Num)
	}
}
