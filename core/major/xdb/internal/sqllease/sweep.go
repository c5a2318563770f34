package sqllease

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

const (
	// keptFor is how long the row of a name with one slot outlives its end. It is at
	// least driver.Ended of package xlease.
	keptFor = 24 * time.Hour
	// sweepPause is the time between two sweeps, sweepTimeout bounds one.
	sweepPause   = time.Hour
	sweepTimeout = time.Minute
	// maxSwept is how many rows are looked for at once, sweepChunk how many of them are
	// removed by one statement.
	maxSwept   = 1000
	sweepChunk = 100
)

// beginSweep starts a sweep if it is time for one. It removes the rows of names with one
// slot that ended long ago, in the background: names such as "order:123" would pile up.
// Those of a name with more slots may be needed for ever.
func (b *Backend) beginSweep() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.life.Err() != nil || time.Now().Before(b.next) {
		return
	}
	b.next = time.Now().Add(sweepPause)
	b.sweeping.Go(b.sweep)
}

func (b *Backend) sweep() {
	ctx, cancel := context.WithTimeout(b.life, sweepTimeout)
	defer cancel()
	found, err := maxSwept, error(nil)
	for found == maxSwept && err == nil && ctx.Err() == nil { // the rest is for the next sweep
		found, err = b.sweepRows(ctx)
	}
	if err != nil && b.life.Err() == nil {
		b.Log.Warn(ctx, "leases that ended long ago could not be removed",
			slog.String("error", err.Error()))
	}
}

// sweepRows removes rows, and returns how many it has found. Those that were taken since
// are left alone.
func (b *Backend) sweepRows(ctx context.Context) (found int, err error) {
	kept := keptFor.Microseconds()
	var ids []string
	err = b.session(ctx).Model(&tableRow{}).Where(b.sql.ended,
		kept).Order("id").Limit(maxSwept).Pluck("id", &ids).Error
	for chunk := range slices.Chunk(ids, sweepChunk) {
		if err == nil {
			err = b.session(ctx).Exec(b.sql.sweep, chunk, kept).Error
		}
	}
	if err != nil {
		return 0, b.failed(ctx, err)
	}
	return len(ids), nil
}
