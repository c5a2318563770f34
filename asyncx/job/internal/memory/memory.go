// Package memory is a test double: an engine that stores jobs in memory, with the clock
// of the process. It passes jobtest.
package memory

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

// ErrAway is the error of calls while the store is disconnected.
var ErrAway = errors.New("memory: disconnected")

// TakeoverTimeout is the time without a renewal after which a worker counts as crashed.
const TakeoverTimeout = 400 * time.Millisecond

// Store stores jobs.
type Store struct {
	mu   sync.Mutex
	jobs map[string]*entry
	down bool

	withoutTransactions bool
}

// entry is a job in a Store.
type entry struct {
	driver.Record
	holder int       // number of the current claim
	until  time.Time // end of the claim
}

// New returns an empty store whose engines join transactions of Transaction.
func New() *Store { return &Store{jobs: map[string]*entry{}} }

// NewWithoutTransactions returns an empty store whose engines do not support
// transactions.
func NewWithoutTransactions() *Store {
	return &Store{jobs: map[string]*entry{}, withoutTransactions: true}
}

// Connect returns an engine on the store.
func (m *Store) Connect() *Engine { return &Engine{m: m} }

// SetDown disconnects all engines from the store, or reconnects them.
func (m *Store) SetDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Forget removes a job in any state. A deliberately broken engine uses it.
func (m *Store) Forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, id)
}

// Transaction runs fn in a transaction, or in a savepoint if ctx is in a transaction.
// Jobs are stored when it commits.
func Transaction(ctx context.Context, fn func(ctx context.Context) error) error {
	ctx, commit := transaction.Begin(ctx, nil)
	if err := fn(ctx); err != nil {
		return err
	}
	commit(true)
	return nil
}

// Engine implements driver.Engine.
type Engine struct {
	m                    *Store
	closed, disconnected bool // guarded by m.mu
}

// SetAway disconnects the engine from its store, or reconnects it.
func (r *Engine) SetAway(disconnected bool) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	r.disconnected = disconnected
}

// call runs do on the store, unless ctx is done or the engine is closed or disconnected.
func (r *Engine) call(ctx context.Context, do func(m *Store) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	switch {
	case r.closed:
		return driver.ErrClosed
	case r.disconnected, r.m.down:
		return ErrAway
	}
	return do(r.m)
}

// Capabilities implements driver.Engine.
func (r *Engine) Capabilities() driver.Capabilities {
	return driver.Capabilities{
		Interface: 1, Name: "memory (a test double)",
		Transactional: !r.m.withoutTransactions, TakeoverTimeout: TakeoverTimeout,
	}
}

// Insert implements driver.Engine.
func (r *Engine) Insert(ctx context.Context, jobs []driver.Job) error {
	return r.call(ctx, func(m *Store) error {
		seen := map[string]bool{}
		for _, j := range jobs {
			if seen[j.ID] || m.jobs[j.ID] != nil {
				return errors.New("memory: duplicate ID")
			}
			seen[j.ID] = true
		}
		if m.withoutTransactions || !transaction.In(ctx) {
			m.add(jobs)
			return nil
		}
		stored := transaction.OnCommit(ctx, func(context.Context) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.add(jobs)
		})
		if !stored {
			return errors.New("memory: the transaction is finished")
		}
		return nil
	})
}

func (m *Store) add(jobs []driver.Job) {
	now := time.Now()
	for _, j := range jobs {
		j.Args, j.Meta = slices.Clone(j.Args), maps.Clone(j.Meta)
		m.jobs[j.ID] = &entry{Record: driver.Record{
			Job: j, State: driver.Waiting, CreatedAt: now, RunAt: now.Add(j.Delay),
		}}
	}
}

// claim assigns the first job that is due.
func (r *Engine) claim(
	ctx context.Context, kinds []string,
) (e *entry, a driver.Attempt, holder int, err error) {
	err = r.call(ctx, func(m *Store) error {
		now := time.Now()
		var ready []*entry
		for _, e := range m.jobs {
			due := e.State == driver.Waiting && !e.RunAt.After(now)
			if slices.Contains(kinds, e.Kind) &&
				(due || e.State == driver.Running && e.until.Before(now)) {
				ready = append(ready, e)
			}
		}
		if len(ready) == 0 {
			return nil
		}
		e = slices.MinFunc(ready, func(a, b *entry) int {
			return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.ID, b.ID))
		})
		crashed := e.State == driver.Running
		e.State, e.until, e.RunAt = driver.Running, now.Add(TakeoverTimeout), now
		e.Attempt++
		e.holder++
		a = driver.Attempt{
			Job: e.Job, Number: e.Attempt, CreatedAt: e.CreatedAt, TakenOver: crashed,
		}
		holder = e.holder
		return nil
	})
	return e, a, holder, err
}

// Work implements driver.Engine.
func (r *Engine) Work(ctx context.Context, w driver.Work) error {
	err := r.call(context.WithoutCancel(ctx), func(*Store) error { return nil })
	if errors.Is(err, driver.ErrClosed) {
		return err
	}
	var attempts sync.WaitGroup
	defer attempts.Wait()
	slots := make(chan struct{}, w.Concurrency)
	for {
		select {
		case <-ctx.Done():
			return nil
		case slots <- struct{}{}:
		}
		e, a, holder, err := r.claim(ctx, w.Kinds)
		if err != nil && ctx.Err() == nil {
			w.OnError(ctx, "claim", err)
		}
		if e != nil {
			attempts.Go(func() {
				defer func() { <-slots }()
				r.attempt(ctx, w, e, a, holder)
			})
			continue
		}
		<-slots
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(w.PollInterval):
		}
	}
}

// attempt runs an attempt, renews its claim concurrently, and stores the outcome.
func (r *Engine) attempt(
	ctx context.Context, w driver.Work, e *entry, a driver.Attempt, holder int,
) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var renewals sync.WaitGroup
	defer renewals.Wait()
	done := make(chan struct{})
	defer close(done)
	renewals.Go(func() { // renewal continues when the attempt's context is canceled
		until := time.Now().Add(TakeoverTimeout)
		for time.Now().Before(until) {
			select {
			case <-done:
				return
			case <-time.After(TakeoverTimeout / 8):
			}
			held := true
			renew := func() { e.until = time.Now().Add(TakeoverTimeout) }
			if err := r.hold(e, holder, renew, &held); err == nil && held {
				until = time.Now().Add(TakeoverTimeout)
			}
			if !held {
				break
			}
		}
		cancel()
	})
	r.finish(ctx, w, e, a, holder, w.Run(ctx, a))
}

// finish stores the outcome of an attempt, with retries while the store is disconnected.
func (r *Engine) finish(
	ctx context.Context, w driver.Work, e *entry, a driver.Attempt, holder int, o driver.Outcome,
) {
	for tries := 0; ; tries++ {
		held := true
		err := r.hold(e, holder, func() { r.m.settle(e, o) }, &held) // even if ctx is done
		if err == nil && !held && w.OnLost != nil {
			w.OnLost(ctx, a, errors.New("memory: the job was reassigned"))
		}
		if err == nil {
			return
		}
		w.OnError(ctx, "settle", err)
		if tries == 20 {
			return
		}
		<-time.After(TakeoverTimeout / 8)
	}
}

// hold runs do if holder still has the claim, and sets held accordingly.
func (r *Engine) hold(e *entry, holder int, do func(), held *bool) error {
	return r.call(context.Background(), func(m *Store) error {
		*held = m.jobs[e.ID] == e && e.State == driver.Running && e.holder == holder
		if *held {
			do()
		}
		return nil
	})
}

func (m *Store) settle(e *entry, o driver.Outcome) {
	e.State, e.RunAt, e.Error = driver.Waiting, time.Now().Add(o.Wait), o.Error
	switch o.Action {
	case driver.Complete:
		delete(m.jobs, e.ID)
	case driver.Discard:
		e.State = driver.Dead
	case driver.Release:
		e.Attempt--
	case driver.Retry:
	}
}

// find runs do on a job.
func (r *Engine) find(ctx context.Context, id string, do func(e *entry) error) error {
	return r.call(ctx, func(m *Store) error {
		if m.jobs[id] == nil {
			return driver.ErrNotFound
		}
		return do(m.jobs[id])
	})
}

// Get implements driver.Engine.
func (r *Engine) Get(ctx context.Context, id string) (record driver.Record, err error) {
	err = r.find(ctx, id, func(e *entry) error {
		record = e.Record
		return nil
	})
	return record, err
}

// List implements driver.Engine.
func (r *Engine) List(ctx context.Context, q driver.Query) (page []driver.Record, err error) {
	err = r.call(ctx, func(m *Store) error {
		for _, id := range slices.Sorted(maps.Keys(m.jobs)) {
			if e := m.jobs[id]; id > q.After && e.State == q.State &&
				(q.Kind == "" || e.Kind == q.Kind) && len(page) < q.Limit {
				page = append(page, e.Record)
			}
		}
		return nil
	})
	return page, err
}

// Replay implements driver.Engine.
func (r *Engine) Replay(ctx context.Context, id string) error {
	return r.find(ctx, id, func(e *entry) error {
		if e.State != driver.Dead {
			return driver.ErrState
		}
		e.State, e.Attempt, e.RunAt = driver.Waiting, 0, time.Now()
		return nil
	})
}

// Delete implements driver.Engine.
func (r *Engine) Delete(ctx context.Context, id string) error {
	return r.find(ctx, id, func(e *entry) error {
		if e.State == driver.Running {
			return driver.ErrState
		}
		delete(r.m.jobs, id)
		return nil
	})
}

// Ping implements driver.Engine.
func (r *Engine) Ping(ctx context.Context) error {
	return r.call(ctx, func(*Store) error { return nil })
}

// Close implements driver.Engine.
func (r *Engine) Close() error {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	r.closed = true
	return nil
}
