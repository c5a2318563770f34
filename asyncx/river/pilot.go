package river

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivershared/baseservice"
	"github.com/riverqueue/river/rivershared/riverpilot"
	"github.com/riverqueue/river/rivertype"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// jobKind is the kind that River's client knows. The rows have the kinds of the jobs;
// which of them are taken is the pilot's affair.
const jobKind = "plinth.job"

// maxClients is how many of the clients that had a job its row remembers.
const maxClients = 100

var errUnpiloted = errors.New(
	"river: this release of River does not ask for its pilot: use v0.51.1, which go.mod names")

// pluggedDriver is River's driver with a pilot, which River asks for like this.
type pluggedDriver struct {
	*riverpgxv5.Driver

	pilot *pilot
}

// PluginInit is called by River before the other method.
func (pluggedDriver) PluginInit(*baseservice.Archetype) {}

// PluginPilot returns what takes jobs and settles them.
func (d pluggedDriver) PluginPilot() riverpilot.Pilot { return d.pilot }

// pilot replaces two statements of River's client: the one that takes jobs is for some
// kinds only, since River would discard the others; the one that settles them changes no
// job that is another client's by now, which River does not look at.
//
// River calls its pilot internal and may change it. So go.mod names the release, and Work
// fails where it is not asked.
type pilot struct {
	riverpilot.StandardPilot

	pool   *pgxpool.Pool
	sql    statements
	client string
	kinds  []string
	asked  bool

	mu     sync.Mutex
	claims map[int64]*claim // by River's id: what this client is at, until it is settled
}

// claim is a job that this client has taken.
type claim struct {
	driver.Attempt

	row     *rivertype.JobRow
	renewed time.Time // no later than when the server was told last that we are at it
	cancel  context.CancelCauseFunc
	lost    bool
}

// PilotInit implements riverpilot.Pilot.
func (p *pilot) PilotInit(archetype *baseservice.Archetype, params *riverpilot.PilotInitParams) {
	p.asked = true
	p.StandardPilot.PilotInit(archetype, params)
}

// JobGetAvailable implements riverpilot.Pilot.
func (p *pilot) JobGetAvailable(
	ctx context.Context, _ riverdriver.Executor, _ riverpilot.ProducerState,
	params *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	result := &riverdriver.JobGetAvailableResult{}
	if params.MaxToLock <= 0 {
		return result, nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	begin := time.Now()
	rows, err := p.pool.Query(ctx, p.sql.fetch, params.Queue, p.kinds, p.ids(), params.MaxToLock,
		maxClients, p.client, diedText)
	if err != nil {
		return nil, err
	}
	taken, err := pgx.CollectRows(rows,
		func(row pgx.CollectableRow) (*claim, error) { return p.take(row, begin) })
	if err != nil {
		return nil, err // nobody renews what was taken, so that others get it
	}
	result.Jobs = make([]*rivertype.JobRow, len(taken))
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range taken {
		result.Jobs[i] = c.row
		p.claims[c.row.ID] = c
	}
	return result, nil
}

// take turns a row into a claim.
func (p *pilot) take(row pgx.CollectableRow, at time.Time) (*claim, error) {
	r := &rivertype.JobRow{
		Kind: jobKind, Queue: Queue, State: rivertype.JobStateRunning, AttemptedAt: &at,
		AttemptedBy: []string{p.client},
		MaxAttempts: forEver, EncodedArgs: []byte("{}"),
	}
	c := &claim{renewed: at, row: r}
	var args []byte
	err := row.Scan(&r.ID, &c.ID, &c.Kind, &args, &c.Priority, &c.MaxAttempts, &r.Metadata,
		&c.Number, &c.CreatedAt, &r.ScheduledAt,
		&c.TakenOver)
	if err != nil {
		return nil, err
	}
	c.CreatedAt = c.CreatedAt.UTC()
	r.Attempt, r.CreatedAt, r.Priority = c.Number, c.CreatedAt, c.Priority
	return c, complete(&c.Job, args, r.Metadata)
}

// JobSetStateIfRunningMany implements riverpilot.Pilot. A failure is tried again by
// River.
func (p *pilot) JobSetStateIfRunningMany(
	ctx context.Context, _ riverdriver.Executor, params *riverdriver.JobSetStateIfRunningManyParams,
) (jobs []*rivertype.JobRow, err error) {
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		owned, shift, err := p.owned(ctx, tx, params.ID)
		if err != nil {
			return err
		}
		if rest := only(params, owned, shift); len(rest.ID) > 0 {
			jobs, err = (*riverpgxv5.Driver)(nil).UnwrapExecutor(tx).JobSetStateIfRunningMany(ctx,
				rest)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range params.ID {
		delete(p.claims, id)
	}
	return jobs, nil
}

// owned locks those of the jobs that are still ours, and says how far the server's clock
// is ahead of ours, or a little more.
func (p *pilot) owned(
	ctx context.Context, tx pgx.Tx, ids []int64,
) (map[int64]bool, time.Duration, error) {
	claimed, attempts := p.claimed(ids)
	begin := time.Now()
	var now time.Time
	if err := tx.QueryRow(ctx, p.sql.owned, claimed, attempts, p.client).Scan(&claimed,
		&now); err != nil {
		return nil, 0, err
	}
	owned := make(map[int64]bool, len(claimed))
	for _, id := range claimed {
		owned[id] = true
	}
	return owned, now.Sub(begin), nil
}

// only returns the parameters of some jobs, with times of the server's clock.
func only(
	p *riverdriver.JobSetStateIfRunningManyParams, ids map[int64]bool, shift time.Duration,
) *riverdriver.JobSetStateIfRunningManyParams {
	rest := &riverdriver.JobSetStateIfRunningManyParams{Now: p.Now, Schema: p.Schema}
	for i, id := range p.ID {
		if !ids[id] {
			continue
		}
		rest.ID, rest.State = append(rest.ID, id), append(rest.State, p.State[i])
		rest.Attempt, rest.ErrData = append(rest.Attempt, p.Attempt[i]),
			append(rest.ErrData, p.ErrData[i])
		rest.FinalizedAt = append(rest.FinalizedAt, shifted(p.FinalizedAt[i], shift))
		rest.ScheduledAt = append(rest.ScheduledAt, shifted(p.ScheduledAt[i], shift))
		rest.MetadataDoMerge = append(rest.MetadataDoMerge, p.MetadataDoMerge[i])
		rest.MetadataUpdates = append(rest.MetadataUpdates, p.MetadataUpdates[i])
	}
	return rest
}

func shifted(t *time.Time, by time.Duration) *time.Time {
	if t == nil {
		return nil
	}
	later := t.Add(by)
	return &later
}

// ids are those of River for the claims.
func (p *pilot) ids() []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([]int64, 0, len(p.claims))
	for id := range p.claims {
		ids = append(ids, id)
	}
	return ids
}

// claimed returns those of the jobs that are claimed, with the attempts.
func (p *pilot) claimed(of []int64) (ids []int64, attempts []int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids, attempts = make([]int64, 0, len(of)), make([]int32, 0, len(of))
	for _, id := range of {
		if c := p.claims[id]; c != nil {
			ids, attempts = append(ids, id), append(attempts, int32(c.Number)) // a smallint
		}
	}
	return ids, attempts
}

// begin returns the attempt of a claim. cancel ends its context once it is lost.
func (p *pilot) begin(id int64, cancel context.CancelCauseFunc) (driver.Attempt, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.claims[id]
	if c == nil || c.lost {
		return driver.Attempt{}, false
	}
	c.cancel = cancel
	return c.Attempt, true
}

// lose ends the attempt of a claim. The caller holds the lock.
func (c *claim) lose() {
	if c.lost {
		return
	}
	c.lost = true
	if c.cancel != nil {
		c.cancel(ErrTaken)
	}
}
