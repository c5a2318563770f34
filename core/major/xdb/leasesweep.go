package xdb

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"
)

const (
	// leaseKept is how long the row of a name with one slot outlives its end. It is at least driver.Ended of package xlease.
	leaseKept = 24 * time.Hour
	// leaseSweepPause is the time between two sweeps, leaseSweepMore that after one that has left something.
	leaseSweepPause = time.Hour
	leaseSweepMore  = time.Minute
	// leaseSweepTimeout bounds one sweep.
	leaseSweepTimeout = time.Minute
	// leaseSweepRows is how many rows a sweep removes at most, leaseSweepChunk how many of them in one statement.
	leaseSweepRows  = 1000
	leaseSweepChunk = 100
)

// leaseSweeper removes the rows of names with one slot that ended long ago, now and then, in the background: names such as
// "order:123" would pile up. What becomes of a name with more slots may be needed for ever.
type leaseSweeper struct {
	life    context.Context //nolint:containedctx // that of the keeper
	backend *leaseBackend

	mu      sync.Mutex
	closed  bool
	next    time.Time
	running sync.WaitGroup
}

// begin starts a sweep where it is time for one.
func (s *leaseSweeper) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || time.Now().Before(s.next) {
		return
	}
	s.next = time.Now().Add(leaseSweepPause)
	s.running.Go(s.sweep)
}

// close waits for the end of what is under way. The life of the keeper has ended before.
func (s *leaseSweeper) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
}

func (s *leaseSweeper) sweep() {
	ctx, cancel := context.WithTimeout(WithPrimary(s.life), leaseSweepTimeout)
	defer cancel()
	found, err := s.backend.sweep(ctx)
	switch {
	case s.life.Err() != nil:
	case err != nil:
		s.backend.info.Log.Warn(ctx, "leases that ended long ago could not be removed", slog.String("error", err.Error()))
	case found == leaseSweepRows:
		s.mu.Lock()
		s.next = time.Now().Add(leaseSweepMore)
		s.mu.Unlock()
	}
}

// sweep removes rows, and returns how many it has found. Those that were taken since are left alone.
func (b *leaseBackend) sweep(ctx context.Context) (found int, err error) {
	db, kept := b.db.WithContext(ctx), leaseKept.Microseconds()
	var ids []string
	err = db.Model(&leaseRow{}).Where(b.sql.ended, kept).Order("id").Limit(leaseSweepRows).Pluck("id", &ids).Error
	if err != nil {
		return 0, b.failed(ctx, err)
	}
	for chunk := range slices.Chunk(ids, leaseSweepChunk) {
		if err := db.Session(&gorm.Session{NewDB: true}).Exec(b.sql.sweep, chunk, kept).Error; err != nil {
			return 0, b.failed(ctx, err)
		}
	}
	return len(ids), nil
}
