package cronx_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/cronx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type service struct{}

func (*service) Refresh(context.Context) error { return nil }

func cleanUp(context.Context) {}

func TestJob_Name(t *testing.T) {
	for _, tc := range []struct {
		name string
		job  *cronx.Job
		want string
	}{
		{name: "function", job: cronx.NewJob("@daily", cleanUp), want: "cronx_test.cleanUp"},
		{
			name: "method", job: cronx.NewJob("@daily", new(service).Refresh),
			want: "cronx_test.service.Refresh",
		},
		{
			name: "WithName", job: cronx.NewJob("@daily", cleanUp, cronx.WithName("clean")),
			want: "clean",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.job.Name(); got != tc.want || tc.job.Named() != (tc.want == "clean") {
				t.Errorf("Name = %q, Named = %v, want %q", got, tc.job.Named(), tc.want)
			}
			if err := tc.job.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNewJob(t *testing.T) {
	job := cronx.NewJob("@hourly", cleanUp, cronx.WithName("n"), cronx.WithOverlap(),
		cronx.WithSingleRun(), cronx.WithTimeout(time.Second), nil)
	if !job.Overlap() || !job.SingleRun() || job.Timeout() != time.Second ||
		job.Spec() != "@hourly" || job.Err() != nil {
		t.Errorf("job = %+v, %v", job, job.Err())
	}
}

func TestSchedule_Location(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		job  *cronx.Job
		want string
	}{
		{
			name: "spec", want: "Europe/Paris",
			job: cronx.NewJob("TZ=Europe/Paris @daily", cleanUp, cronx.WithLocation(tokyo)),
		},
		{
			name: "job", want: "Asia/Tokyo",
			job: cronx.NewJob("@daily", cleanUp,
				cronx.WithLocation(tokyo), cronx.WithLocation(nil)),
		},
		{name: "runner", job: cronx.NewJob("@daily", cleanUp), want: "UTC"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := tc.job.Schedule(time.UTC)
			if err != nil || s.Location().String() != tc.want {
				t.Errorf("Location = %v, %v, want %s", s.Location(), err, tc.want)
			}
		})
	}
}

func TestJob_Err(t *testing.T) {
	job := cronx.NewJob("61 * * * *", (func(context.Context) error)(nil),
		cronx.WithTimeout(0), cronx.WithName("a b\n"))
	err := job.Err()
	if !errors.Is(err, cronx.ErrJob) {
		t.Fatalf("Err = %v, want ErrJob", err)
	}
	for _, want := range []string{
		`"a b\n": invalid name`, "nil function", "WithTimeout: 0s", `field 1 (minute) "61"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Err = %v, want an error that contains %q", err, want)
		}
	}
	var nilJob *cronx.Job
	for name, job := range map[string]*cronx.Job{
		"nil":                       nilJob,
		"nil function":              cronx.NewJob("@daily", (func(context.Context))(nil)),
		"single run without a name": cronx.NewJob("@daily", cleanUp, cronx.WithSingleRun()),
		"empty name":                cronx.NewJob("@daily", cleanUp, cronx.WithName("")),
		"long name": cronx.NewJob("@daily", cleanUp,
			cronx.WithName(strings.Repeat("n", 101))),
		"negative timeout": cronx.NewJob("@daily", cleanUp, cronx.WithTimeout(-1)),
	} {
		if err := job.Err(); !errors.Is(err, cronx.ErrJob) {
			t.Errorf("%s: Err = %v, want ErrJob", name, err)
		}
	}
}

func TestTickFrom(t *testing.T) {
	if tick, ok := cronx.TickFrom(t.Context()); ok {
		t.Errorf("TickFrom = %v, want no tick", tick)
	}
	if _, ok := cronx.TickFrom(nil); ok { //nolint:staticcheck // the nil context is the subject
		t.Error("TickFrom(nil) has a tick")
	}
}
