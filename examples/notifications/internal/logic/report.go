package logic

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/examples/notifications/internal/notify"
	"github.com/plinthgo/plinth/examples/notifications/internal/repository"
)

// Report sends the number of new users to the team and counts each user once. A retry
// finds no new user, and a report includes the users of a missed one. The email is stored
// in the transaction that marks the users, so that a crash loses neither.
func Report(ctx context.Context) error {
	tick, _ := cronx.TickFrom(ctx)
	return xdb.Transaction(ctx, func(ctx context.Context) error {
		users, err := repository.MarkReported(ctx, tick.Time)
		if err != nil || users == 0 {
			return err
		}
		return notify.Report(ctx, tick.Time, users)
	})
}
