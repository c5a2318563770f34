package logic

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/examples/notifications/internal/notify"
	"github.com/plinthgo/plinth/examples/notifications/internal/repository"
)

// Report tells the team how many users are new. Each user is counted once: a repeat finds
// nobody, and a tick that was missed is made up for by the next one. The mail is stored
// with the marks, so that a crash loses neither.
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
