// Package driver defines what keeps durable jobs: an engine. Applications use package
// job; only engines import this package.
//
// An engine stores jobs, gives each to one worker at a time, and puts it back where the
// worker dies. What all engines share is written once, in package job: types, ids,
// attempts and their limit, backoff, timeouts, panics, logs, the stop. Package jobtest is
// the definition of the behaviour, and every engine runs it.
package driver

import (
	"context"
	"errors"
	"time"
)

// The errors that every engine gives for the same reasons.
var (
	// ErrNotFound reports that there is no job with the id.
	ErrNotFound = errors.New("there is no such job")
	// ErrState reports that the job is not in a state in which that can be done with it.
	ErrState = errors.New("the job is not in that state")
	// ErrClosed reports a call after Close.
	ErrClosed = errors.New("the queue is closed")
)

// Priorities: 1 is the highest, 4 the lowest.
const (
	MinPriority = 1
	MaxPriority = 4
)

// State is where a job stands.
type State string

// The states.
const (
	// Waiting is a job whose time has come or will come: it is new, or is going to be
	// tried again.
	Waiting State = "waiting"
	// Running is a job that a worker is at.
	Running State = "running"
	// Dead is a job that is not tried again by itself.
	Dead State = "dead"
	// Done is a job that has succeeded. An engine may forget it.
	Done State = "done"
)

// Job is a job as it is stored.
type Job struct {
	// ID is unique among all jobs: a UUID of version 7.
	ID string
	// Kind says who handles it: 1 to 100 characters of [a-z0-9._-].
	Kind string
	// Args is a JSON value of at most 1 MiB.
	Args []byte
	// Priority is MinPriority to MaxPriority. Of jobs that wait, those with a smaller
	// number come first.
	Priority int
	// Delay is the time until it may run, by the engine's clock; not negative.
	Delay time.Duration
	// MaxAttempts is how often it is tried, at least once. An engine only shows it: who
	// decides is package job.
	MaxAttempts int
	// Meta travels with the job: at most a few short texts.
	Meta map[string]string
}

// Record is a job and what has become of it.
type Record struct {
	Job
	State State
	// Attempt is the number of attempts that have begun since it was stored, or since it
	// was last replayed.
	Attempt int
	// CreatedAt is when it was stored; RunAt when it may run next, or did last.
	CreatedAt, RunAt time.Time
	// Error is what the last attempt failed with; "" where none has.
	Error string
}

// Attempt is a job in the hands of a worker.
type Attempt struct {
	Job
	// Number counts from 1, since the job was stored or replayed. A worker that died in
	// the middle of one has used it up.
	Number int
	// CreatedAt is when the job was stored.
	CreatedAt time.Time
	// Died says that the attempt before ended with the death of its worker. It is said
	// once: not any more after a Return.
	Died bool
}

// Verdict is what is to become of a job after an attempt.
type Verdict uint8

const (
	// Succeed ends it: it is done.
	Succeed Verdict = iota
	// Retry lets it wait for Outcome.Wait.
	Retry
	// Bury makes it dead.
	Bury
	// Return lets it wait for Outcome.Wait as if this attempt had never been: its number
	// is used again.
	Return
)

// Outcome is the end of an attempt.
type Outcome struct {
	Verdict Verdict
	// Wait is the time until the next attempt, by the engine's clock; 0 is at once.
	Wait time.Duration
	// Error is kept with the job for Retry and Bury: at most 2000 bytes, for people.
	Error string
}

// Work says which jobs a worker takes, and what it does with them.
type Work struct {
	// Kinds are those that it takes. Jobs of other kinds stay as they are, for others.
	Kinds []string
	// Concurrency is how many attempts it makes at the same time, at least 1.
	Concurrency int
	// Poll is how often, on average, it looks for jobs where nothing tells it of them.
	Poll time.Duration
	// Longest is the longest time that an attempt takes; 0 where there is no limit. An
	// engine that can tell a worker that is alive from one that is dead need not look at
	// it.
	Longest time.Duration
	// Run makes an attempt. It does not panic, and returns soon after ctx ends. Its
	// context is derived from that of Engine.Work but goes on when that one ends; it ends
	// where the job is somebody else's by now, and then the outcome does not count.
	Run func(ctx context.Context, a Attempt) Outcome
	// Failed is told of what goes wrong between the engine and its server. It does not
	// block.
	Failed func(ctx context.Context, what string, err error)
	// Lost is told of an outcome that did not count, or may not have, because the job is
	// another worker's by now. It does not block. Nil is nobody. An engine that cannot
	// tell does not call it.
	Lost func(ctx context.Context, a Attempt, err error)
}

// Query chooses records.
type Query struct {
	// State is the state that they are in.
	State State
	// Kind is the kind that they are of; "" is all.
	Kind string
	// After is the id of the last record of the page before, a UUID; "" begins.
	After string
	// Limit is the length of a page, at least 1.
	Limit int
}

// InterfaceVersion counts the changes of this package after which an engine that still
// compiles might do the wrong thing.
const InterfaceVersion = 1

// Capabilities say what an engine promises.
type Capabilities struct {
	// Interface is the InterfaceVersion for which the engine was written: the number
	// itself, since the constant is whatever the program was built with. 0 is 1. Any
	// other version than this package's ends the start.
	Interface int
	// Name is for people, such as "outbox on postgres".
	Name string
	// Transactional says that Insert takes part in the database transaction that its
	// context carries.
	Transactional bool
	// TakeOver is how long after its worker has died a job is given to another one, at
	// most, where others work.
	TakeOver time.Duration
}

// Engine keeps jobs. It is safe for concurrent use. A method ends with the error of its
// context when that ends.
type Engine interface {
	Capabilities() Capabilities
	// Insert stores jobs, all or none, in the database transaction that ctx carries where
	// Capabilities.Transactional and there is one. An id that is there already, or twice
	// among the jobs, is an error. It does not change what it is given.
	Insert(ctx context.Context, jobs []Job) error
	// Work gives jobs to w.Run until ctx ends, then waits for the attempts that run,
	// settles them, and returns. Outages of the server are told to w.Failed, and ridden
	// out; an error means that it could not begin. It may be called again, also while
	// another call of it goes on.
	Work(ctx context.Context, w Work) error
	// Get returns a job. Package job asks it, and Replay and Delete, for UUIDs only.
	Get(ctx context.Context, id string) (Record, error)
	// List returns a page of records in the order of their ids, which is that of their
	// making.
	List(ctx context.Context, q Query) ([]Record, error)
	// Replay lets a dead job wait again, from its first attempt on, at once. The error is
	// ErrState where it is not dead.
	Replay(ctx context.Context, id string) error
	// Delete removes a job that is waiting or dead. The error is ErrState where it is
	// running, or done and not forgotten.
	Delete(ctx context.Context, id string) error
	// Ping asks the server for an answer.
	Ping(ctx context.Context) error
	// Close lets go of what the engine has opened by itself. Work has returned before.
	// Every method but Capabilities and Close gives ErrClosed from then on.
	Close() error
}
