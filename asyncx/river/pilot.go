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

// jobKind is the only kind of River's client. The rows have the kinds of the jobs, and
// the pilot filters them.
const jobKind = "plinth.job"

// maxClients is the maximum number of clients in the history of a row.
const maxClients = 100

var errNoPilot = errors.New(
	"river: unsupported release of River: it does not use the pilot; use v0.51.1, as in go.mod")

// pluggedDriver is River's driver with a pilot.
type pluggedDriver struct {
	*riverpgxv5.Driver

	pilot *pilot
}

// PluginInit implements River's plugin interface.
func (pluggedDriver) PluginInit(*baseservice.Archetype) {}

// PluginPilot returns the pilot, which fetches and completes jobs.
func (d pluggedDriver) PluginPilot() riverpilot.Pilot { return d.pilot }

// pilot replaces two statements of River's client. The fetch is limited to some kinds,
// because River would discard jobs of other kinds. The completion skips jobs that another
// client has taken over, which River does not check.
//
// The pilot is an internal interface of River that may change. go.mod therefore pins the
// release, and Work fails if River does not call the pilot.
type pilot struct {
	riverpilot.StandardPilot

	pool      *pgxpool.Pool
	sql       statements
	client    string
	kinds     []string
	installed bool

	mu     sync.Mutex
	claims map[int64]*claim // running jobs of this client by River's ID, until they are completed
}

// claim is a job that this client has fetched.
type claim struct {
	driver.Attempt

	row     *rivertype.JobRow
	renewed time.Time // lower bound of the time of the last renewal
	cancel  context.CancelCauseFunc
	lost    bool
}

// PilotInit implements riverpilot.Pilot.
func (p *pilot) PilotInit(archetype *baseservice.Archetype, params *riverpilot.PilotInitParams) {
	p.installed = true
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
	start := time.Now()
	rows, err := p.pool.Query(ctx, p.sql.fetch, params.Queue, p.kinds, p.ids(), params.MaxToLock,
		maxClients, p.client, crashedText)
	if err != nil {
		return nil, err
	}
	taken, err := pgx.CollectRows(rows,
		func(row pgx.CollectableRow) (*claim, error) { return p.take(row, start) })
	if err != nil {
		return nil, err // the jobs are not renewed, so other clients take them over
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

// take converts a row into a claim.
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

// JobSetStateIfRunningMany implements riverpilot.Pilot. River retries it after an error.
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

// owned locks the jobs that this client still has. It returns how far the server's clock
// is ahead, plus the latency.
func (p *pilot) owned(
	ctx context.Context, tx pgx.Tx, ids []int64,
) (map[int64]bool, time.Duration, error) {
	claimed, attempts := p.claimed(ids)
	start := time.Now()
	var now time.Time
	if err := tx.QueryRow(ctx, p.sql.owned, claimed, attempts, p.client).Scan(&claimed,
		&now); err != nil {
		return nil, 0, err
	}
	owned := make(map[int64]bool, len(claimed))
	for _, id := range claimed {
		owned[id] = true
	}
	return owned, now.Sub(start), nil
}

// only returns the parameters of the jobs in ids, with times of the server's clock.
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

// ids returns River's IDs of the claims.
func (p *pilot) ids() []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([]int64, 0, len(p.claims))
	for id := range p.claims {
		ids = append(ids, id)
	}
	return ids
}

// claimed returns the IDs with a claim, and their attempts.
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

// start returns the attempt of a claim. cancel is called when the claim is lost.
func (p *pilot) start(id int64, cancel context.CancelCauseFunc) (driver.Attempt, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.claims[id]
	if c == nil || c.lost {
		return driver.Attempt{}, false
	}
	c.cancel = cancel
	return c.Attempt, true
}

// lose cancels the attempt of a claim. The caller holds the lock.
func (c *claim) lose() {
	if c.lost {
		return
	}
	c.lost = true
	if c.cancel != nil {
		c.cancel(ErrTaken)
	}
}
