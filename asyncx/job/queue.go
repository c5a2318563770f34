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

// Record is a job with its current state.
type Record = driver.Record

// State is the state of a job.
type State = driver.State

// The states of a job.
const (
	// StateWaiting is the state of a new job and of a job between two attempts.
	StateWaiting = driver.Waiting
	// StateRunning is the state of a job during an attempt.
	StateRunning = driver.Running
	// StateDead is the state of a dead-lettered job. It runs again only after Replay.
	StateDead = driver.Dead
	// StateDone is the state of a completed job. Engines delete such jobs immediately or
	// later.
	StateDone = driver.Done
)

// Query selects records.
type Query = driver.Query

// validID matches a lower-case UUID. Other strings could cause a database error, which
// aborts a transaction.
var validID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Queue stores, lists and modifies jobs. It is safe for concurrent use.
type Queue struct{ engine driver.Engine }

// NewQueue returns a queue that stores its jobs with an open engine.
func NewQueue(engine driver.Engine) *Queue { return &Queue{engine} }

// Opener opens an engine. ctx is the application's context, with its database and cache.
// The package of each engine has a function that returns an Opener.
type Opener func(ctx context.Context) (driver.Engine, error)

// Init returns a node that opens the queue, for the key xctx.JobQueueKey. The application
// closes the queue at shutdown.
func Init(open Opener) func(ctx context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		if open == nil {
			return nil, fmt.Errorf("job: %w: the engine is nil", ErrOption)
		}
		engine, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if err := checkVersion(engine); err != nil {
			return nil, errors.Join(err, engine.Close())
		}
		return NewQueue(engine), nil
	}
}

// checkVersion returns an error if engine implements another version of the interface.
// The error names the outdated module.
func checkVersion(engine driver.Engine) error {
	capabilities := engine.Capabilities()
	version := cmp.Or(capabilities.Interface, 1)
	if version == driver.InterfaceVersion {
		return nil
	}
	const asyncx = "github.com/plinthgo/plinth/asyncx"
	t := reflect.TypeOf(engine)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	outdated := t.PkgPath()
	if version > driver.InterfaceVersion {
		outdated = asyncx
	}
	return fmt.Errorf("job: incompatible engine: %q of %s implements version %d of the interface, "+
		"and %s has version %d: run `go get %s@latest`",
		capabilities.Name, t.PkgPath(), version, asyncx, driver.InterfaceVersion, outdated)
}

// GetQueue returns the queue of the application. It returns a ConfigError if ctx has no
// queue.
func GetQueue(ctx context.Context) (*Queue, *xerror.Error) {
	q, err := xctxutil.Get[*Queue](xctx.Unpooled(ctx), xctx.JobQueueKey)
	if err != nil {
		return nil, xerror.Wrap(xerror.ConfigError, "no job queue",
			fmt.Errorf("add the node {Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())} "+
				"or one with another engine: %w", err))
	}
	return q, nil
}

// MustGetQueue is like GetQueue but panics if ctx has no queue.
func MustGetQueue(ctx context.Context) *Queue {
	q, err := GetQueue(ctx)
	if err != nil {
		panic(err)
	}
	return q
}

// String returns the display name of the engine.
func (q *Queue) String() string { return q.engine.Capabilities().Name }

// Capabilities returns the capabilities of the engine.
func (q *Queue) Capabilities() driver.Capabilities { return q.engine.Capabilities() }

// Get returns a job. It returns ErrNotFound if no job with the ID exists, for example
// because the engine deleted it after completion.
func (q *Queue) Get(ctx context.Context, id string) (Record, error) {
	if !validID.MatchString(id) {
		return Record{}, wrapError("get", ErrNotFound)
	}
	r, err := q.engine.Get(xctx.Unpooled(ctx), id)
	return r, wrapError("get", err)
}

// List returns a page of jobs, oldest first. A Limit of 0 means 100. It returns ErrOption
// if State, Kind or After is invalid.
func (q *Queue) List(ctx context.Context, query Query) ([]Record, error) {
	switch query.State {
	case StateWaiting, StateRunning, StateDead, StateDone:
	default:
		return nil, fmt.Errorf("job: list: %w: invalid state %q", ErrOption, query.State)
	}
	if query.Kind != "" && !validName.MatchString(query.Kind) {
		return nil, fmt.Errorf("job: list: %w: invalid kind %.120q", ErrOption, query.Kind)
	}
	if query.After != "" && !validID.MatchString(query.After) {
		return nil, fmt.Errorf("job: list: %w: invalid ID %.120q in After",
			ErrOption, query.After)
	}
	if query.Limit < 1 {
		query.Limit = 100
	}
	records, err := q.engine.List(xctx.Unpooled(ctx), query)
	return records, wrapError("list", err)
}

// Replay returns a dead job to the queue. The job is due immediately, with the same ID,
// and starts again with attempt 1. Replay returns ErrState if the job is not dead.
func (q *Queue) Replay(ctx context.Context, id string) error {
	return change(ctx, "replay", id, q.engine.Replay)
}

// Delete removes a waiting or dead job. It returns ErrState if the job is running or
// done.
func (q *Queue) Delete(ctx context.Context, id string) error {
	return change(ctx, "delete", id, q.engine.Delete)
}

// change validates the ID and calls do.
func change(
	ctx context.Context, operation, id string, do func(ctx context.Context, id string) error,
) error {
	if !validID.MatchString(id) {
		return wrapError(operation, ErrNotFound)
	}
	return wrapError(operation, do(xctx.Unpooled(ctx), id))
}

// CheckHealth implements xhook.HealthChecker. It pings the server of the engine.
func (q *Queue) CheckHealth(ctx context.Context) error {
	return wrapError("ping", q.engine.Ping(ctx))
}

// Close closes the engine.
func (q *Queue) Close() error { return wrapError("close", q.engine.Close()) }

func wrapError(operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("job: %s: %w", operation, err)
}
