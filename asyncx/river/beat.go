package river

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A worker renews its claims six times per takeover timeout. It counts as crashed after
// half of the timeout without a renewal. Other workers check for crashed workers at each
// renewal.
const (
	beats       = 6
	missedBeats = 3 // missed renewals of a crashed worker
)

// crashedText is the stored error of a job whose worker crashed.
const crashedText = "the worker crashed or lost its connection"

// pulse renews the claims of a worker and reassigns the jobs of crashed workers.
type pulse struct {
	*pilot

	every  time.Duration
	failed func(ctx context.Context, what string, err error)
}

// run calls beat regularly until ctx is canceled.
func (p *pulse) run(ctx context.Context) {
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		p.beat(ctx)
	}
}

// beat renews the own claims first: after a suspend of the process they would look
// crashed.
func (p *pulse) beat(ctx context.Context) {
	beat, cancel := context.WithTimeout(ctx, p.every)
	defer cancel()
	if err := p.renew(beat); err != nil {
		p.report(ctx, "renew claims", err)
		p.expire()
		return
	}
	dead := missedBeats * p.every
	if _, err := p.pool.Exec(beat, p.sql.rescue, Queue, dead.Microseconds(),
		crashedText); err != nil {
		p.report(ctx, "check for crashed workers", err)
	}
}

func (p *pulse) report(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		p.failed(ctx, what, fmt.Errorf("river: %w", err))
	}
}

// renew renews the claims of this client. Claims that the server does not confirm are
// lost.
func (p *pulse) renew(ctx context.Context) error {
	ids, attempts := p.claimed(p.ids())
	if len(ids) == 0 {
		return nil
	}
	start := time.Now()
	rows, err := p.pool.Query(ctx, p.sql.renew, ids, attempts, p.client)
	if err != nil {
		return err
	}
	owned, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, id := range ids {
		c := p.claims[id]
		switch {
		case c == nil || c.Number != int(attempts[i]): // it was completed in the meantime
		case slices.Contains(owned, id):
			c.renewed = start
		default:
			c.lose()
		}
	}
	return nil
}

// expire cancels attempts before another worker may take them over.
func (p *pulse) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.claims {
		if time.Since(c.renewed) >= (missedBeats-1)*p.every {
			c.lose()
		}
	}
}
