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

// jobKind is the only kind that River's client knows. The rows have the kinds of the
// jobs, and the pilot selects rows by these kinds.
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

// pilot replaces two statements of River's client. The fetch is limited to the kinds of
// the worker, because River would discard jobs of other kinds. The completion skips jobs
// that another client has taken over, which River does not check.
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
	claims map[int64]*claim // jobs of this client that are not completed, by River's ID
}

// claim is a job that this client has fetched.
type claim struct {
	driver.Attempt

	row     *rivertype.JobRow
	renewed time.Time // not later than the last renewal
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
	claims, err := pgx.CollectRows(rows,
		func(row pgx.CollectableRow) (*claim, error) { return p.scanClaim(row, start) })
	if err != nil {
		return nil, err // the claims are not renewed, so other clients take over the jobs
	}
	result.Jobs = make([]*rivertype.JobRow, len(claims))
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range claims {
		result.Jobs[i] = c.row
		p.claims[c.row.ID] = c
	}
	return result, nil
}

// scanClaim converts a row into a claim.
func (p *pilot) scanClaim(row pgx.CollectableRow, at time.Time) (*claim, error) {
	r := &rivertype.JobRow{
		Kind: jobKind, Queue: Queue, State: rivertype.JobStateRunning, AttemptedAt: &at,
		AttemptedBy: []string{p.client}, MaxAttempts: noAttemptLimit, EncodedArgs: []byte("{}"),
	}
	c := &claim{renewed: at, row: r}
	var args []byte
	err := row.Scan(&r.ID, &c.ID, &c.Kind, &args, &c.Priority, &c.MaxAttempts, &r.Metadata,
		&c.Number, &c.CreatedAt, &r.ScheduledAt, &c.TakenOver)
	if err != nil {
		return nil, err
	}
	c.CreatedAt = c.CreatedAt.UTC()
	r.Attempt, r.CreatedAt, r.Priority = c.Number, c.CreatedAt, c.Priority
	return c, decodeFields(&c.Job, args, r.Metadata)
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
		if p := ownedParams(params, owned, shift); len(p.ID) > 0 {
			executor := (*riverpgxv5.Driver)(nil).UnwrapExecutor(tx)
			jobs, err = executor.JobSetStateIfRunningMany(ctx, p)
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

// owned locks the jobs that this client still owns. It also returns the difference
// between the server's clock and the local clock, plus the latency.
func (p *pilot) owned(
	ctx context.Context, tx pgx.Tx, ids []int64,
) (map[int64]bool, time.Duration, error) {
	claimed, attempts := p.claimed(ids)
	start := time.Now()
	var now time.Time
	err := tx.QueryRow(ctx, p.sql.owned, claimed, attempts, p.client).Scan(&claimed, &now)
	if err != nil {
		return nil, 0, err
	}
	owned := make(map[int64]bool, len(claimed))
	for _, id := range claimed {
		owned[id] = true
	}
	return owned, now.Sub(start), nil
}

// ownedParams returns the parameters of the owned jobs, with times of the server's clock.
func ownedParams(
	p *riverdriver.JobSetStateIfRunningManyParams, owned map[int64]bool, shift time.Duration,
) *riverdriver.JobSetStateIfRunningManyParams {
	out := &riverdriver.JobSetStateIfRunningManyParams{Now: p.Now, Schema: p.Schema}
	for i, id := range p.ID {
		if !owned[id] {
			continue
		}
		out.ID, out.State = append(out.ID, id), append(out.State, p.State[i])
		out.Attempt = append(out.Attempt, p.Attempt[i])
		out.ErrData = append(out.ErrData, p.ErrData[i])
		out.FinalizedAt = append(out.FinalizedAt, shifted(p.FinalizedAt[i], shift))
		out.ScheduledAt = append(out.ScheduledAt, shifted(p.ScheduledAt[i], shift))
		out.MetadataDoMerge = append(out.MetadataDoMerge, p.MetadataDoMerge[i])
		out.MetadataUpdates = append(out.MetadataUpdates, p.MetadataUpdates[i])
	}
	return out
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

// claimed returns those of the jobs that have a claim, and their attempts.
func (p *pilot) claimed(jobs []int64) (ids []int64, attempts []int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids, attempts = make([]int64, 0, len(jobs)), make([]int32, 0, len(jobs))
	for _, id := range jobs {
		if c := p.claims[id]; c != nil {
			ids, attempts = append(ids, id), append(attempts, int32(c.Number)) // a smallint
		}
	}
	return ids, attempts
}

// start returns the attempt of a claim, or false if the claim is lost. cancel is called
// when the claim is lost later.
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

// lose cancels the attempt of a claim. The caller must hold the lock of the pilot.
func (c *claim) lose() {
	if c.lost {
		return
	}
	c.lost = true
	if c.cancel != nil {
		c.cancel(ErrLeaseLost)
	}
}
