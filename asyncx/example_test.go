package asyncx_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx"
	"github.com/plinthgo/plinth/asyncx/backoff"
)

func ExampleAsync() {
	ctx := context.Background() // in a handler: c.Request.Context()

	h := asyncx.Async(ctx, func(context.Context) {
		fmt.Println("recorded")
	}, asyncx.WithName("audit"), asyncx.WithTimeout(10*time.Second))

	fmt.Println(h.Name(), h.Wait(ctx))
	// Output:
	// recorded
	// audit <nil>
}

func ExampleAsyncErr() {
	ctx := context.Background()
	attempts := 0

	h := asyncx.AsyncErr(ctx, func(context.Context) error {
		if attempts++; attempts < 3 {
			return errors.New("index unavailable")
		}
		return nil
	}, asyncx.WithRetry(5, backoff.Constant(time.Millisecond)))

	fmt.Println(h.Wait(ctx), "after", attempts, "attempts")
	// Output: <nil> after 3 attempts
}
