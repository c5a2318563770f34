package cronx_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/cronx"
)

func ExampleNewJob() {
	report := func(ctx context.Context) error {
		tick, _ := cronx.TickFrom(ctx)
		fmt.Println("the report of", tick.Time.Format(time.DateOnly))
		return nil
	}
	job := cronx.NewJob("CRON_TZ=Europe/Berlin 30 2 * * *", report,
		cronx.WithName("report"), cronx.WithSingleRun(), cronx.WithTimeout(time.Hour))
	schedule, err := job.Schedule(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for range 2 {
		at = schedule.Next(at)
		fmt.Println(at.Format(time.RFC3339)) // 2:30 does not exist on the 29th
	}
	fmt.Println(job.Run(cronx.NewContext(context.Background(),
		cronx.Tick{Name: job.Name(), Time: at})))
	// Output:
	// 2026-03-29T03:00:00+02:00
	// 2026-03-30T02:30:00+02:00
	// the report of 2026-03-30
	// <nil>
}

func ExampleJob_Err() {
	job := cronx.NewJob("*/5 * 31 2 *", func(context.Context) {}, cronx.WithName("never"))
	fmt.Println(job.Err())
	fmt.Println(errors.Is(job.Err(), cronx.ErrJob))
	// Output:
	// cronx: invalid job: "never": spec "*/5 * 31 2 *": no such date
	// true
}
