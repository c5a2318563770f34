package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Record is a job and what has become of it.
type Record = driver.Record

// State is where a job stands.
type State = driver.State

// The states.
const (
	// StateWaiting is a job whose time has come or will come.
	StateWaiting = driver.Waiting
	// StateRunning is a job that a worker is at.
	StateRunning = driver.Running
	// StateDead is a job that is not tried again by itself.
	StateDead = driver.Dead
	// StateDone is a job that has succeeded. Engines forget those, at once or later.
	StateDone = driver.Done
)

// Query chooses records.
type Query = driver.Query

// validID is what an id looks like: a UUID, in lower case. A database may refuse other
// text, and end a transaction with it.
var validID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Queue stores jobs and tells of them. It is safe for concurrent use.
type Queue struct{ engine driver.Engine }

// NewQueue returns a queue on an open engine.
func NewQueue(engine driver.Engine) *Queue { return &Queue{engine} }

// Opener opens an engine; ctx is the application's, with its database and cache. Each
// engine's package has one.
type Opener func(ctx context.Context) (driver.Engine, error)

// Init returns a node that opens the queue, for the key xctx.JobQueueKey. The queue is
// closed with the application.
func Init(open Opener) func(ctx context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		if open == nil {
			return nil, fmt.Errorf("job: %w: the engine is nil", ErrOption)
		}
		engine, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if err := fits(engine); err != nil {
			return nil, errors.Join(err, engine.Close())
		}
		return NewQueue(engine), nil
	}
}

// fits refuses an engine that was written for another version of the interface. The older
// side has to follow.
func fits(engine driver.Engine) error {
	capabilities := engine.Capabilities()
	written := cmp.Or(capabilities.Interface, 1)
	if written == driver.InterfaceVersion {
		return nil
	}
	const ours = "github.com/plinthgo/plinth/asyncx"
	t := reflect.TypeOf(engine)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	behind := t.PkgPath()
	if written > driver.InterfaceVersion {
		behind = ours
	}
	return fmt.Errorf("job: engine and asyncx do not fit: %q of %s was written for version %d of the interface, "+
		"and %s has version %d: run `go get %s@latest`",
		capabilities.Name, t.PkgPath(), written, ours, driver.InterfaceVersion, behind)
}

// GetQueue returns the queue of the application. Where ctx carries none, the error is a
// ConfigError.
func GetQueue(ctx context.Context) (*Queue, *xerror.Error) {
	q, err := xctxutil.Get[*Queue](xctx.Unpooled(ctx), xctx.JobQueueKey)
	if err != nil {
		return nil, xerror.Wrap(xerror.ConfigError, "there is no queue of jobs", fmt.Errorf(
			"list the node {Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}, or one with another engine: %w", err))
	}
	return q, nil
}

// MustGetQueue is GetQueue for an application that has a queue: it panics where there is
// none.
func MustGetQueue(ctx context.Context) *Queue {
	q, err := GetQueue(ctx)
	if err != nil {
		panic(err)
	}
	return q
}

// String names the engine, for people.
func (q *Queue) String() string { return q.engine.Capabilities().Name }

// Capabilities says what the engine promises.
func (q *Queue) Capabilities() driver.Capabilities { return q.engine.Capabilities() }

// Get returns a job. The error is ErrNotFound where there is none with the id, also
// because it is done and forgotten.
func (q *Queue) Get(ctx context.Context, id string) (Record, error) {
	if !validID.MatchString(id) {
		return Record{}, failed("get", ErrNotFound)
	}
	r, err := q.engine.Get(xctx.Unpooled(ctx), id)
	return r, failed("get", err)
}

// List returns a page of jobs, the oldest first. Where Limit is 0 a page has 100. The
// error is ErrOption where the State is none, Kind is no name of a kind, or After no id.
func (q *Queue) List(ctx context.Context, query Query) ([]Record, error) {
	switch query.State {
	case StateWaiting, StateRunning, StateDead, StateDone:
	default:
		return nil, fmt.Errorf("job: list: %w: %q is no state", ErrOption, query.State)
	}
	if query.Kind != "" && !validName.MatchString(query.Kind) {
		return nil, fmt.Errorf("job: list: %w: %.120q is no name of a kind", ErrOption, query.Kind)
	}
	if query.After != "" && !validID.MatchString(query.After) {
		return nil, fmt.Errorf("job: list: %w: after %.120q, which is no id",
			ErrOption, query.After)
	}
	if query.Limit < 1 {
		query.Limit = 100
	}
	records, err := q.engine.List(xctx.Unpooled(ctx), query)
	return records, failed("list", err)
}

// Replay lets a dead job run again, at once and from its first attempt on, with the id
// that it has. The error is ErrState where it is not dead.
func (q *Queue) Replay(ctx context.Context, id string) error {
	return change(ctx, "replay", id, q.engine.Replay)
}

// Delete removes a job that waits or is dead. The error is ErrState where it is running
// or done.
func (q *Queue) Delete(ctx context.Context, id string) error {
	return change(ctx, "delete", id, q.engine.Delete)
}

// change does something with one job.
func change(
	ctx context.Context, what, id string, do func(ctx context.Context, id string) error,
) error {
	if !validID.MatchString(id) {
		return failed(what, ErrNotFound)
	}
	return failed(what, do(xctx.Unpooled(ctx), id))
}

// CheckHealth implements xhook.HealthChecker: jobs can be stored where it gives no error.
func (q *Queue) CheckHealth(ctx context.Context) error { return failed("ping", q.engine.Ping(ctx)) }

// Close closes the engine.
func (q *Queue) Close() error { return failed("close", q.engine.Close()) }

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("job: %s: %w", what, err)
}
