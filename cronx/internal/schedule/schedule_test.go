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

// The expected times contain the offset, because some local times occur twice.
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
			want: "2026-10-25T02:30:00+02:00 2026-10-25T02:00:00+01:00 2026-10-25T02:30:00+01:00 " +
				"2026-10-25T03:00:00+01:00",
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
			name: "every 90 minutes does not depend on the zone", spec: "@every 90m",
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
				want: "2026-01-03T00:00:00Z 2026-01-04T00:00:00Z 2026-01-07T00:00:00Z " +
					"2026-02-01T00:00:00Z",
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
				want: "2026-01-03T00:00:00Z 2026-01-05T00:00:00Z 2026-01-07T00:00:00Z " +
					"2026-01-09T00:00:00Z 2026-01-11T00:00:00Z 2026-01-12T00:00:00Z",
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
				want: "2026-03-02T09:00:00Z 2026-03-03T09:00:00Z 2026-03-04T09:00:00Z " +
					"2026-03-09T09:00:00Z",
			},
			{
				name: "7 is Sunday", spec: "0 0 * * 7",
				want: "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z",
			},
			{
				name: "steps", spec: "5-20/5 0 * * *",
				want: "2026-01-01T00:05:00Z 2026-01-01T00:10:00Z 2026-01-01T00:15:00Z " +
					"2026-01-01T00:20:00Z 2026-01-02T00:05:00Z",
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
			{
				name: "a leap day", spec: "0 0 29 2 *",
				want: "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z",
			},
			{name: "yearly", spec: "@yearly", want: "2027-01-01T00:00:00Z"},
			{
				name: "a spec with a zone", spec: "CRON_TZ=Asia/Tokyo  0 3 * * *",
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
				t.Errorf("%d s later: %d, want 77", i, got.Unix())
			}
		}
		if got := s.Next(time.Unix(-8, 0)); got.Unix() != -7 {
			t.Errorf("before 1970: %d, want -7", got.Unix())
		}
	})
}
