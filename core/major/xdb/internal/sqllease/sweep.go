package sqllease

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

const (
	// retention is how long the row of a name with one slot remains after it expired. It
	// is at least driver.Retention of package xlease.
	retention = 24 * time.Hour
	// sweepPause is the time between two sweeps, sweepTimeout limits one.
	sweepPause   = time.Hour
	sweepTimeout = time.Minute
	// maxSwept is the number of rows that one query finds, sweepChunk the number that one
	// statement deletes.
	maxSwept   = 1000
	sweepChunk = 100
)

// startSweep starts a background sweep unless one was started within sweepPause. A sweep
// deletes long-expired rows of names with one slot, because names such as "order:123"
// accumulate. The rows of a name with several slots may be needed forever.
func (b *Backend) startSweep() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopCtx.Err() != nil || time.Now().Before(b.next) {
		return
	}
	b.next = time.Now().Add(sweepPause)
	b.sweeping.Go(b.sweep)
}

func (b *Backend) sweep() {
	ctx, cancel := context.WithTimeout(b.stopCtx, sweepTimeout)
	defer cancel()
	found, err := maxSwept, error(nil)
	for found == maxSwept && err == nil && ctx.Err() == nil { // the next sweep deletes the rest
		found, err = b.sweepRows(ctx)
	}
	if err != nil && b.stopCtx.Err() == nil {
		b.Log.Warn(ctx, "expired leases could not be deleted",
			slog.String("error", err.Error()))
	}
}

// sweepRows deletes expired rows and returns how many it found. It does not delete rows
// that were acquired in the meantime.
func (b *Backend) sweepRows(ctx context.Context) (found int, err error) {
	age := retention.Microseconds()
	var ids []string
	err = b.session(ctx).Model(&tableRow{}).Where(b.sql.expired, age).
		Order("id").Limit(maxSwept).Pluck("id", &ids).Error
	for chunk := range slices.Chunk(ids, sweepChunk) {
		if err == nil {
			err = b.session(ctx).Exec(b.sql.sweep, chunk, age).Error
		}
	}
	if err != nil {
		return 0, b.failed(ctx, err)
	}
	return len(ids), nil
}
