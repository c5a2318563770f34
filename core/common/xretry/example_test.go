package xretry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
)

func ExampleBackoff() {
	attempts := 0
	try := func(context.Context) error {
		if attempts++; attempts < 3 {
			return errors.New("not ready")
		}
		return nil
	}
	untilDone := func(ctx context.Context) error {
		pause := xretry.Backoff{First: time.Millisecond, Max: 5 * time.Second}
		for {
			err := try(ctx)
			if err == nil {
				return nil
			}
			if xretry.Sleep(ctx, pause.Next()) != nil {
				return err
			}
		}
	}
	fmt.Println(untilDone(context.Background()), attempts)
	// Output: <nil> 3
}
