package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/cronx/internal/schedule"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec string
		want string
	}{
		{name: "empty", spec: "  ", want: "empty spec"},
		{name: "long", spec: strings.Repeat("1,", 200), want: "400 bytes"},
		{name: "too few", spec: "* * * *", want: "4 fields (accepted: 5,"},
		{name: "too many", spec: "* * * * * * *", want: "7 fields"},
		{
			name: "hour of five", spec: "0 25 * * *",
			want: `field 2 (hour) "25": end of range (25) above maximum (23)`,
		},
		{name: "hour of six", spec: "0 0 25 * * *", want: `field 3 (hour) "25"`},
		{name: "second", spec: "60 0 0 * * *", want: `field 1 (second) "60"`},
		{name: "unknown month", spec: "0 0 * foo *", want: `field 4 (month) "foo"`},
		{name: "weekday", spec: "0 0 * * 8", want: `field 5 (day of week) "8"`},
		{name: "day", spec: "0 0 0 * *", want: `field 3 (day of month) "0"`},
		{name: "zero step", spec: "*/0 * * * *", want: `field 1 (minute) "*/0"`},
		{name: "step beyond the maximum", spec: "*/90 * * * *", want: `field 1 (minute) "*/90"`},
		{name: "negative", spec: "-5 * * * *", want: `field 1 (minute) "-5": missing number`},
		{
			name: "range without an end", spec: "1- * * * *",
			want: `field 1 (minute) "1-": missing number`,
		},
		{
			name: "step without a number", spec: "*/x * * * *",
			want: `field 1 (minute) "*/x": invalid number "x"`,
		},
		{
			name: "huge", spec: "99999999999999999999 * * * *",
			want: `field 1 (minute) "99999999999999999999": invalid number "99999999999999999999"`,
		},
		{
			name: "word in the minute field", spec: "now * * * *",
			want: `invalid number "now"`,
		},
		{
			name: "invalid last day", spec: "0 0 L-x * *",
			want: `field 3 (day of month) "L-x": invalid number "x"`,
		},
		{name: "invalid nearest weekday", spec: "0 0 xW * *", want: `field 3 (day of month) "xW"`},
		{
			name: "invalid weekday of the month", spec: "0 0 * * FRI#x",
			want: `field 5 (day of week) "FRI#x"`,
		},
		{name: "single number", spec: "-1", want: "1 fields "},
		{
			name: "zone followed by a tab", spec: "CRON_TZ=Europe/Atlantis\t30 2 * * *",
			want: `time zone "Europe/Atlantis": unknown time zone`,
		},
		{
			name: "empty entry", spec: "1,,2 * * * *",
			want: `field 1 (minute) "1,,2": empty list entry`,
		},
		{
			name: "single comma", spec: ", * * * *",
			want: `field 1 (minute) ",": empty list entry`,
		},
		{
			name: "star with a suffix", spec: "*-5 * * * *",
			want: `field 1 (minute) "*-5": "*" is followed by "-5"`,
		},
		{name: "hash", spec: "H * * * *", want: `field 1 (minute) "H"`},
		{name: "year", spec: "0 0 0 1 1 2030", want: `field 6 (day of week) "2030"`},
		{name: "30 February", spec: "0 0 30 2 *", want: "no such date"},
		{name: "31 of short months", spec: "0 0 31 2,4,6,9,11 *", want: "no such date"},
		{name: "descriptor", spec: "@often", want: `unrecognized descriptor: "@often"`},
		{
			name: "every without an interval", spec: "@every",
			want: `@every "" (accepted: whole seconds, from 1s to `,
		},
		{name: "every with a fraction", spec: "@every 1500ms", want: `@every "1500ms"`},
		{name: "zero every", spec: "@every 0s", want: `@every "0s"`},
		{name: "negative every", spec: "@every -1h", want: `@every "-1h"`},
		{
			name: "unknown zone", spec: "CRON_TZ=Europe/Atlantis 0 0 * * *",
			want: `time zone "Europe/Atlantis": unknown time zone`,
		},
		{name: "empty zone", spec: "TZ= 0 0 * * *", want: "empty time zone"},
		{name: "only a zone", spec: "TZ=UTC", want: "no fields after the time zone"},
		{
			name: "zone outside the directory", spec: "TZ=../../etc/passwd 0 0 * * *",
			want: "time zone",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := schedule.Parse(tc.spec, time.UTC)
			if err == nil || !strings.Contains(err.Error(), tc.want) ||
				strings.Contains(err.Error(), "strconv") {
				t.Errorf("Parse = %v, %v, want %q in the error", s, err, tc.want)
			}
		})
	}
}

// FuzzParse checks that the ticks of every valid spec increase, are whole seconds, and do
// not depend on the start time.
func FuzzParse(f *testing.F) {
	for _, spec := range []string{
		"* * * * *", "0 2 * * *", "*/7 1-5 L * FRI#L", "@every 90s", "CRON_TZ=Asia/Beirut @daily",
		"TZ=x", "0 0 29W 2 *", "5/20 22-3 * * *",
		"0 0 31 2 *", ",", "*-*", "@", "CRON_TZ=Europe/Berlin 59 59 23 31 12 ?",
	} {
		f.Add(spec, int64(1774744200)) // shortly before a clock change in Europe
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, spec string, from int64) {
		s, err := schedule.Parse(spec, berlin)
		if err != nil {
			return
		}
		at := time.Unix(from%(1<<32), 0)
		for range 5 {
			next := s.Next(at)
			if next.IsZero() {
				return
			}
			if !next.After(at) || next.Nanosecond() != 0 {
				t.Fatalf("%q: %s after %s", spec, next, at)
			}
			if between := s.Next(at.Add(next.Sub(at) / 2)); !between.Equal(next) {
				t.Fatalf("%q: Next(%s) = %s, halfway %s", spec, at, next, between)
			}
			at = next
		}
	})
}
