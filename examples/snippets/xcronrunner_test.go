package snippets_test

import (
	"context"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/cronx"
)

func Example_xCronSingleRun() {
	sendReport := func(context.Context) error { return nil }
	job := cronx.NewJob("0 3 * * *", sendReport, cronx.WithName("report"), cronx.WithSingleRun())

	schedule, err := job.Schedule(time.UTC)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schedule.Next(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)))
	// Output: 2026-03-29 03:00:00 +0000 UTC
}
