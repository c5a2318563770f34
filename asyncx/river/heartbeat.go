package river

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A worker renews its claims six times per takeover timeout. It counts as crashed after
// half of the timeout without a renewal. Workers check for crashed workers after each
// renewal of their own claims.
const (
	beatsPerTimeout = 6
	missedBeats     = 3 // number of missing renewals of a crashed worker
)

// crashedText is the stored error of a job whose worker crashed.
const crashedText = "the worker crashed or lost its connection"

// heartbeat renews the claims of a worker, and returns the jobs of crashed workers to the
// queue.
type heartbeat struct {
	*pilot

	interval time.Duration
	onError  func(ctx context.Context, operation string, err error)
}

// run calls beat regularly until ctx is canceled.
func (h *heartbeat) run(ctx context.Context) {
	ticker := time.NewTicker(h.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		h.beat(ctx)
	}
}

// beat renews the worker's own claims first. Otherwise it would treat its own worker as
// crashed after the process was suspended.
func (h *heartbeat) beat(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, h.interval)
	defer cancel()
	if err := h.renew(limited); err != nil {
		h.report(ctx, "renew claims", err)
		h.expire()
		return
	}
	timeout := missedBeats * h.interval
	_, err := h.pool.Exec(limited, h.sql.rescue, Queue, timeout.Microseconds(), crashedText)
	if err != nil {
		h.report(ctx, "check for crashed workers", err)
	}
}

func (h *heartbeat) report(ctx context.Context, operation string, err error) {
	if ctx.Err() == nil {
		h.onError(ctx, operation, fmt.Errorf("river: %w", err))
	}
}

// renew renews the claims of this client. Claims that the server does not confirm are
// lost.
func (h *heartbeat) renew(ctx context.Context) error {
	ids, attempts := h.claimed(h.ids())
	if len(ids) == 0 {
		return nil
	}
	start := time.Now()
	rows, err := h.pool.Query(ctx, h.sql.renew, ids, attempts, h.client)
	if err != nil {
		return err
	}
	owned, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, id := range ids {
		c := h.claims[id]
		switch {
		case c == nil || c.Number != int(attempts[i]): // the attempt was completed in the meantime
		case slices.Contains(owned, id):
			c.renewed = start
		default:
			c.lose()
		}
	}
	return nil
}

// expire cancels the attempts whose jobs other workers may soon take over.
func (h *heartbeat) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.claims {
		if time.Since(c.renewed) >= (missedBeats-1)*h.interval {
			c.lose()
		}
	}
}
