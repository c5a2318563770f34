package cronx_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	xCron "github.com/plinthgo/plinth/cronx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type service struct{}

func (*service) Refresh(context.Context) error { return nil }

func cleanUp(context.Context) {}

func TestAJobIsNamedAfterItsFunction(t *testing.T) {
	for _, tc := range []struct {
		name string
		job  *xCron.Job
		want string
	}{
		{name: "a function", job: xCron.NewJob("@daily", cleanUp), want: "cronx_test.cleanUp"},
		{name: "a method", job: xCron.NewJob("@daily", new(service).Refresh), want: "cronx_test.service.Refresh"},
		{name: "by name", job: xCron.NewJob("@daily", cleanUp, xCron.WithName("clean")), want: "clean"},
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

func TestOptionsAreKept(t *testing.T) {
	job := xCron.NewJob("@hourly", cleanUp, xCron.WithName("n"), xCron.WithOverlap(), xCron.WithSingleRun(), xCron.WithTimeout(time.Second), nil)
	if !job.Overlap() || !job.SingleRun() || job.Timeout() != time.Second || job.Spec() != "@hourly" || job.Err() != nil {
		t.Errorf("job = %+v, %v", job, job.Err())
	}
}

func TestTheZoneOfTheSpecGoesBeforeThatOfTheJobAndThatBeforeTheRunners(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		job  *xCron.Job
		want string
	}{
		{name: "spec", job: xCron.NewJob("TZ=Europe/Paris @daily", cleanUp, xCron.WithLocation(tokyo)), want: "Europe/Paris"},
		{name: "job", job: xCron.NewJob("@daily", cleanUp, xCron.WithLocation(tokyo), xCron.WithLocation(nil)), want: "Asia/Tokyo"},
		{name: "runner", job: xCron.NewJob("@daily", cleanUp), want: "UTC"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := tc.job.Schedule(time.UTC)
			if err != nil || s.Location().String() != tc.want {
				t.Errorf("Location = %v, %v, want %s", s.Location(), err, tc.want)
			}
		})
	}
}

func TestEverythingWrongWithAJobIsToldAtOnce(t *testing.T) {
	job := xCron.NewJob("61 * * * *", (func(context.Context) error)(nil), xCron.WithTimeout(0), xCron.WithName("a b\n"))
	err := job.Err()
	if !errors.Is(err, xCron.ErrJob) {
		t.Fatalf("Err = %v, want ErrJob", err)
	}
	for _, want := range []string{`"a b\n": the name`, "its function is nil", "WithTimeout: 0s", `field 1 (minute) "61"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Err = %v, want %q in it", err, want)
		}
	}
	var none *xCron.Job
	for name, job := range map[string]*xCron.Job{
		"nil":             none,
		"a nil func":      xCron.NewJob("@daily", (func(context.Context))(nil)),
		"an unnamed one":  xCron.NewJob("@daily", cleanUp, xCron.WithSingleRun()),
		"an empty name":   xCron.NewJob("@daily", cleanUp, xCron.WithName("")),
		"a long name":     xCron.NewJob("@daily", cleanUp, xCron.WithName(strings.Repeat("n", 101))),
		"a negative time": xCron.NewJob("@daily", cleanUp, xCron.WithTimeout(-1)),
	} {
		if err := job.Err(); !errors.Is(err, xCron.ErrJob) {
			t.Errorf("%s: Err = %v, want ErrJob", name, err)
		}
	}
}

func TestAContextWithoutATickHasNone(t *testing.T) {
	if tick, ok := xCron.TickFrom(t.Context()); ok {
		t.Errorf("TickFrom = %v, want none", tick)
	}
	if _, ok := xCron.TickFrom(nil); ok { //nolint:staticcheck // a nil context is what is tested
		t.Error("TickFrom(nil) has a tick")
	}
}
