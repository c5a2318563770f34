package asyncx_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	xAsync "github.com/plinthgo/plinth/asyncx"
	xBackoff "github.com/plinthgo/plinth/asyncx/backoff"
)

func ExampleAsync() {
	ctx := context.Background() // of a request: c.Request.Context()

	h := xAsync.Async(ctx, func(context.Context) {
		fmt.Println("recorded")
	}, xAsync.WithName("audit"), xAsync.WithTimeout(10*time.Second))

	fmt.Println(h.Name(), h.Wait(ctx))
	// Output:
	// recorded
	// audit <nil>
}

func ExampleAsyncErr() {
	ctx := context.Background()
	attempts := 0

	h := xAsync.AsyncErr(ctx, func(context.Context) error {
		if attempts++; attempts < 3 {
			return errors.New("the index does not answer")
		}
		return nil
	}, xAsync.WithRetry(5, xBackoff.Constant(time.Millisecond)))

	fmt.Println(h.Wait(ctx), "after", attempts, "attempts")
	// Output: <nil> after 3 attempts
}
