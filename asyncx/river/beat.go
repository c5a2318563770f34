package river

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// The parts of the time in which a job is taken over: a worker that has said nothing for
// half of it is dead, it says so six times in it, and others look as often.
const (
	beats = 6
	mute  = 3 // beats after which a worker is dead
)

// diedText is kept with a job whose worker died.
const diedText = "the worker died, or lost the database"

// pulse keeps the claims of a worker alive and takes those of dead ones from them.
type pulse struct {
	*pilot

	every  time.Duration
	failed func(ctx context.Context, what string, err error)
}

// run beats until ctx ends.
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

// beat first saves its own: after a pause of the process they would look dead to it, too.
func (p *pulse) beat(ctx context.Context) {
	beat, cancel := context.WithTimeout(ctx, p.every)
	defer cancel()
	if err := p.renew(beat); err != nil {
		p.tell(ctx, "renew the claims", err)
		p.giveUp()
		return
	}
	dead := mute * p.every
	if _, err := p.pool.Exec(beat, p.sql.rescue, Queue, dead.Microseconds(), diedText); err != nil {
		p.tell(ctx, "look for dead workers", err)
	}
}

func (p *pulse) tell(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		p.failed(ctx, what, fmt.Errorf("river: %w", err))
	}
}

// renew tells the server which jobs this client is at. What the server does not know as
// its own is lost.
func (p *pulse) renew(ctx context.Context) error {
	ids, attempts := p.claimed(p.ids())
	if len(ids) == 0 {
		return nil
	}
	begin := time.Now()
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
		case c == nil || c.Number != int(attempts[i]): // it was settled meanwhile
		case slices.Contains(owned, id):
			c.renewed = begin
		default:
			c.lose()
		}
	}
	return nil
}

// giveUp ends attempts before others may begin theirs.
func (p *pulse) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.claims {
		if time.Since(c.renewed) >= (mute-1)*p.every {
			c.lose()
		}
	}
}
