package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/cronx/internal/schedule"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Want contains the offset of each tick, because some local times occur twice.
func TestSchedule_Next_DaylightSaving(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec string
		zone string
		from string
		want string
	}{
		{
			name: "Berlin, spring: skipped time is due at the change", spec: "30 2 * * *",
			zone: "Europe/Berlin",
			from: "2026-03-28T12:00:00+01:00",
			want: "2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00",
		},
		{
			name: "Berlin, spring: skipped times are due once", spec: "*/10 2 * * *",
			zone: "Europe/Berlin",
			from: "2026-03-28T02:50:00+01:00",
			want: "2026-03-29T03:00:00+02:00 2026-03-30T02:00:00+02:00 2026-03-30T02:10:00+02:00",
		},
		{
			name: "Berlin, spring: time at the change is not repeated",
			spec: "0 2,3 * * *", zone: "Europe/Berlin",
			from: "2026-03-28T12:00:00+01:00",
			want: "2026-03-29T03:00:00+02:00 2026-03-30T02:00:00+02:00",
		},
		{
			name: "Berlin, spring: every quarter of an hour", spec: "*/15 * * * *",
			zone: "Europe/Berlin",
			from: "2026-03-29T01:30:00+01:00",
			want: "2026-03-29T01:45:00+01:00 2026-03-29T03:00:00+02:00 2026-03-29T03:15:00+02:00",
		},
		{
			name: "Berlin, autumn: repeated time is due at its first occurrence",
			spec: "30 2 * * *",
			zone: "Europe/Berlin",
			from: "2026-10-24T12:00:00+02:00",
			want: "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00",
		},
		{
			name: "Berlin, autumn: start in the repeated hour", spec: "30 2 * * *",
			zone: "Europe/Berlin",
			from: "2026-10-25T02:10:00+01:00", want: "2026-10-26T02:30:00+01:00",
		},
		{
			name: "Berlin, autumn: hour after the repeated hour", spec: "0 */3 * * *",
			zone: "Europe/Berlin",
			from: "2026-10-25T00:00:00+02:00",
			want: "2026-10-25T03:00:00+01:00 2026-10-25T06:00:00+01:00",
		},
		{
			name: "Berlin, autumn: every half hour", spec: "*/30 * * * *",
			zone: "Europe/Berlin",
			from: "2026-10-25T02:00:00+02:00",
			want: "2026-10-25T02:30:00+02:00 2026-10-25T02:00:00+01:00 2026-10-25T02:30:00+01:00 2026-10-25T03:00:00+01:00",
		},
		{
			name: "New York, spring", spec: "30 2 * * *", zone: "America/New_York",
			from: "2026-03-07T12:00:00-05:00",
			want: "2026-03-08T03:00:00-04:00 2026-03-09T02:30:00-04:00",
		},
		{
			name: "New York, spring: hourly", spec: "@hourly", zone: "America/New_York",
			from: "2026-03-08T00:30:00-05:00",
			want: "2026-03-08T01:00:00-05:00 2026-03-08T03:00:00-04:00",
		},
		{
			name: "New York, autumn", spec: "30 1 * * *", zone: "America/New_York",
			from: "2026-10-31T12:00:00-04:00",
			want: "2026-11-01T01:30:00-04:00 2026-11-02T01:30:00-05:00",
		},
		{
			name: "New York, autumn: hourly", spec: "@hourly", zone: "America/New_York",
			from: "2026-11-01T00:30:00-04:00",
			want: "2026-11-01T01:00:00-04:00 2026-11-01T01:00:00-05:00 2026-11-01T02:00:00-05:00",
		},
		{
			name: "Lord Howe, spring: half an hour is skipped", spec: "15 2 * * *",
			zone: "Australia/Lord_Howe",
			from: "2026-10-03T12:00:00+10:30",
			want: "2026-10-04T02:30:00+11:00 2026-10-05T02:15:00+11:00",
		},
		{
			name: "Lord Howe, spring: every quarter of an hour", spec: "*/15 * * * *",
			zone: "Australia/Lord_Howe",
			from: "2026-10-04T01:30:00+10:30",
			want: "2026-10-04T01:45:00+10:30 2026-10-04T02:30:00+11:00 2026-10-04T02:45:00+11:00",
		},
		{
			name: "Lord Howe, autumn: half an hour is repeated", spec: "45 1 * * *",
			zone: "Australia/Lord_Howe",
			from: "2026-04-04T12:00:00+11:00",
			want: "2026-04-05T01:45:00+11:00 2026-04-06T01:45:00+10:30",
		},
		{
			name: "Lord Howe, autumn: every half hour", spec: "*/30 * * * *",
			zone: "Australia/Lord_Howe",
			from: "2026-04-05T01:00:00+11:00",
			want: "2026-04-05T01:30:00+11:00 2026-04-05T01:30:00+10:30 2026-04-05T02:00:00+10:30",
		},
		{
			name: "Beirut: midnight is skipped", spec: "@daily", zone: "Asia/Beirut",
			from: "2024-03-30T12:00:00+02:00",
			want: "2024-03-31T01:00:00+03:00 2024-04-01T00:00:00+03:00",
		},
		{
			name: "Sao Paulo: skipped midnight of a date", spec: "0 0 4 11 *",
			zone: "America/Sao_Paulo",
			from: "2018-11-01T12:00:00-03:00",
			want: "2018-11-04T01:00:00-02:00 2019-11-04T00:00:00-03:00",
		},
		{
			name: "Apia: a whole day is skipped", spec: "0 12 30 12 *", zone: "Pacific/Apia",
			from: "2011-12-01T12:00:00-10:00",
			want: "2011-12-31T00:00:00+14:00 2012-12-30T12:00:00+14:00",
		},
		{
			name: "every 90 minutes ignores zones", spec: "@every 90m",
			zone: "Europe/Berlin",
			from: "2026-03-29T00:00:00+01:00",
			want: "2026-03-29T01:00:00+01:00 2026-03-29T03:30:00+02:00 2026-03-29T05:00:00+02:00",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, tc.from)
			if err != nil {
				t.Fatal(err)
			}
			s, err := schedule.Parse(tc.spec, zone(t, tc.zone))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range strings.FieldsSeq(tc.want) {
				at = s.Next(at)
				got = append(got, at.Format(time.RFC3339))
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("\ngot  %s\nwant %s", text, tc.want)
			}
		})
	}
}

func TestSchedule_Next(t *testing.T) {
	t.Run("follows crontab(5)", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			spec string
			want string
		}{
			{
				name: "five fields", spec: "30 4 1,15 * *",
				want: "2026-01-01T04:30:00Z 2026-01-15T04:30:00Z 2026-02-01T04:30:00Z",
			},
			{
				name: "six fields", spec: "15 30 4 * * *",
				want: "2026-01-01T04:30:15Z 2026-01-02T04:30:15Z",
			},
			{
				name: "either day is enough", spec: "0 0 13 * fri",
				want: "2026-01-02T00:00:00Z 2026-01-09T00:00:00Z 2026-01-13T00:00:00Z",
			},
			{
				name: "a day field with a star requires both days", spec: "0 0 */2 * MON",
				want: "2026-01-05T00:00:00Z 2026-01-19T00:00:00Z 2026-02-09T00:00:00Z",
			},
			{
				name: "a star with a step of one", spec: "0 0 */1 * 1",
				want: "2026-01-05T00:00:00Z 2026-01-12T00:00:00Z",
			},
			{
				name: "a star with a step among weekdays", spec: "0 0 1-7 * */3",
				want: "2026-01-03T00:00:00Z 2026-01-04T00:00:00Z 2026-01-07T00:00:00Z 2026-02-01T00:00:00Z",
			},
			{
				name: "a star in a list", spec: "0 0 13,* * FRI",
				want: "2026-01-02T00:00:00Z 2026-01-09T00:00:00Z 2026-01-16T00:00:00Z",
			},
			{
				name: "a star with a step, of six fields", spec: "0 0 0 */2 * MON",
				want: "2026-01-05T00:00:00Z 2026-01-19T00:00:00Z",
			},
			{
				name: "a range with a step restricts", spec: "0 0 1-31/2 * MON",
				want: "2026-01-03T00:00:00Z 2026-01-05T00:00:00Z 2026-01-07T00:00:00Z 2026-01-09T00:00:00Z 2026-01-11T00:00:00Z 2026-01-12T00:00:00Z",
			},
			{
				name: "a star in another field does not matter", spec: "0 */12 13 * FRI",
				want: "2026-01-02T00:00:00Z 2026-01-02T12:00:00Z 2026-01-09T00:00:00Z",
			},
			{
				name: "the last day, if a Saturday", spec: "0 0 */30,L * SAT",
				want: "2026-01-31T00:00:00Z 2026-02-28T00:00:00Z",
			},
			{
				name: "names", spec: "0 9 * mar MON-WED",
				want: "2026-03-02T09:00:00Z 2026-03-03T09:00:00Z 2026-03-04T09:00:00Z 2026-03-09T09:00:00Z",
			},
			{name: "7 is Sunday", spec: "0 0 * * 7",
				want: "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z"},
			{
				name: "steps", spec: "5-20/5 0 * * *",
				want: "2026-01-01T00:05:00Z 2026-01-01T00:10:00Z 2026-01-01T00:15:00Z 2026-01-01T00:20:00Z 2026-01-02T00:05:00Z",
			},
			{
				name: "the last day of a month", spec: "0 0 L * *",
				want: "2026-01-31T00:00:00Z 2026-02-28T00:00:00Z",
			},
			{
				name: "the weekday next to a day", spec: "0 0 15W 2,3 *",
				want: "2026-02-16T00:00:00Z 2026-03-16T00:00:00Z",
			},
			{
				name: "the third Friday", spec: "0 0 * * FRI#3",
				want: "2026-01-16T00:00:00Z 2026-02-20T00:00:00Z",
			},
			{name: "a leap day", spec: "0 0 29 2 *",
				want: "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
			{name: "yearly", spec: "@yearly", want: "2027-01-01T00:00:00Z"},
			{
				name: "a zone of its own", spec: "CRON_TZ=Asia/Tokyo  0 3 * * *",
				want: "2026-01-02T03:00:00+09:00",
			},
			{
				name: "a zone and a tab", spec: "CRON_TZ=Asia/Tokyo\t0 3 * * *",
				want: "2026-01-02T03:00:00+09:00",
			},
			{
				name: "every 45 seconds since 1970", spec: "@every 45s",
				want: "2026-01-01T00:00:45Z 2026-01-01T00:01:30Z",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s, err := schedule.Parse(tc.spec, time.UTC)
				if err != nil {
					t.Fatal(err)
				}
				at := time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC)
				var got []string
				for range strings.FieldsSeq(tc.want) {
					at = s.Next(at)
					got = append(got, at.Format(time.RFC3339))
				}
				if text := strings.Join(got, " "); text != tc.want {
					t.Errorf("\ngot  %s\nwant %s", text, tc.want)
				}
			})
		}
	})

	t.Run("finds a leap day across a century", func(t *testing.T) {
		s, err := schedule.Parse("0 0 29 2 *", time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.Next(time.Date(2096, 3, 1, 0, 0, 0, 0, time.UTC)),
			time.Date(2104, 2, 29, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})

	t.Run("aligns @every to 1970", func(t *testing.T) {
		s, err := schedule.Parse("@every 7s", time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Unix(70, 0)
		for i := range 7 {
			if got := s.Next(from.Add(time.Duration(i)*time.Second +
				time.Millisecond)); got.Unix() != 77 {
				t.Errorf("%d s on: %d, want 77", i, got.Unix())
			}
		}
		if got := s.Next(time.Unix(-8, 0)); got.Unix() != -7 {
			t.Errorf("before 1970: %d, want -7", got.Unix())
		}
	})
}

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
		{name: "word", spec: "0 0 * foo *", want: `field 4 (month) "foo"`},
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
			name: "word among minutes", spec: "now * * * *",
			want: `invalid number "now"`,
		},
		{
			name: "invalid last day", spec: "0 0 L-x * *",
			want: `field 3 (day of month) "L-x": invalid number "x"`,
		},
		{name: "invalid nearest weekday", spec: "0 0 xW * *", want: `field 3 (day of month) "xW"`},
		{name: "invalid weekday of the month", spec: "0 0 * * FRI#x",
			want: `field 5 (day of week) "FRI#x"`},
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
