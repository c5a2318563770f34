package xlease_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
)

func ExampleLeases_Lease() {
	ctx := context.Background()
	leases := xlease.New(xlease.InProcess(nil)) // a service uses xlease.MustGetLeases(ctx)
	defer func() { _ = leases.Close() }()

	lease, err := leases.Lease(ctx, "nightly-report", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = leases.Lease(ctx, "nightly-report", 30*time.Second)
	fmt.Println("held by another replica:", errors.Is(err, xlease.ErrHeld))

	if err := lease.Err(); err == nil { // immediately before the exclusive action
		fmt.Println("report sent")
	}
	fmt.Println(lease.Release(ctx))
	// Output:
	// held by another replica: true
	// report sent
	// <nil>
}

func ExampleLeases_Do() {
	leases := xlease.New(xlease.InProcess(nil))
	defer func() { _ = leases.Close() }()

	err := leases.Do(context.Background(), "rebuild-index", time.Minute,
		func(ctx context.Context, lease *xlease.Lease) error {
			// ctx is canceled when the lease is lost.
			fmt.Println("rebuilding, with a token:", lease.Token() > 0)
			return ctx.Err()
		}, xlease.WithWait())
	fmt.Println(err)
	// Output:
	// rebuilding, with a token: true
	// <nil>
}

func ExampleWithSlots() {
	ctx := context.Background()
	leases := xlease.New(xlease.InProcess(nil))
	defer func() { _ = leases.Close() }()

	// At most three concurrent exports in the whole cluster.
	for range 4 {
		_, err := leases.Lease(ctx, "export", time.Minute, xlease.WithSlots(0, 3))
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// xlease: held by another holder: "export"
}
