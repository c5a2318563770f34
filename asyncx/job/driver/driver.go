// Package driver defines Engine, the interface between package job and the storage of
// durable jobs. Applications use package job; only engines import this package.
//
// An engine stores jobs, assigns each job to one worker at a time, and reassigns the jobs
// of a crashed worker. Package job implements everything else: argument types, IDs,
// attempts and their limit, backoff, timeouts, panics, logs and shutdown. Package jobtest
// is the conformance suite for engines.
package driver

import (
	"context"
	"errors"
	"time"
)

// Errors that every engine returns, possibly wrapped.
var (
	// ErrNotFound reports that no job with the ID exists.
	ErrNotFound = errors.New("job not found")
	// ErrState reports that the state of the job does not allow the operation.
	ErrState = errors.New("the state of the job does not allow the operation")
	// ErrClosed reports a call after Close.
	ErrClosed = errors.New("the queue is closed")
)

// Priorities: 1 is the highest, 4 the lowest.
const (
	MinPriority = 1
	MaxPriority = 4
)

// State is the state of a job.
type State string

// The states of a job.
const (
	// Waiting is the state of a new job and of a job between two attempts.
	Waiting State = "waiting"
	// Running is the state of a job during an attempt.
	Running State = "running"
	// Dead is the state of a dead-lettered job. It runs again only after Replay.
	Dead State = "dead"
	// Done is the state of a completed job. An engine may delete it at any time.
	Done State = "done"
)

// Job is a stored job.
type Job struct {
	// ID is a UUID of version 7, unique among all jobs.
	ID string
	// Kind selects the handler: 1 to 100 characters of [a-z0-9._-].
	Kind string
	// Args is a JSON value of at most 1 MiB.
	Args []byte
	// Priority is between MinPriority and MaxPriority. Among waiting jobs, the job with
	// the smaller number runs first.
	Priority int
	// Delay is the time until the first attempt, measured by the engine's clock. It is
	// not negative.
	Delay time.Duration
	// MaxAttempts is the maximum number of attempts, at least 1. Package job enforces it;
	// an engine only stores it.
	MaxAttempts int
	// Meta is stored with the job. It contains a few short strings.
	Meta map[string]string
}

// Record is a job with its current state.
type Record struct {
	Job
	State State
	// Attempt is the number of attempts that started since the job was stored or last
	// replayed.
	Attempt int
	// CreatedAt is the time when the job was stored. RunAt is the time of the next
	// attempt, or of the last one if no other attempt is due.
	CreatedAt, RunAt time.Time
	// Error is the error of the last attempt; "" if no attempt failed.
	Error string
}

// Attempt is a job that is assigned to a worker.
type Attempt struct {
	Job
	// Number counts from 1, since the job was stored or replayed. An attempt counts even
	// if its worker crashed.
	Number int
	// CreatedAt is the time when the job was stored.
	CreatedAt time.Time
	// TakenOver reports that the worker of the previous attempt crashed. It is set once:
	// it is false after a Release.
	TakenOver bool
}

// Action is what the engine does with a job after an attempt.
type Action uint8

const (
	// Complete marks the job as done.
	Complete Action = iota
	// Retry schedules the next attempt after Outcome.Wait.
	Retry
	// Discard dead-letters the job.
	Discard
	// Release returns the job to the queue for Outcome.Wait without counting the attempt:
	// the next attempt has the same number.
	Release
)

// Outcome is the result of an attempt.
type Outcome struct {
	Action Action
	// Wait is the time until the next attempt, measured by the engine's clock; 0 means
	// immediately.
	Wait time.Duration
	// Error is stored with the job for Retry and Discard: at most 2000 bytes.
	Error string
}

// Work configures a worker.
type Work struct {
	// Kinds are the kinds that the worker runs. It leaves jobs of other kinds untouched.
	Kinds []string
	// Concurrency is the maximum number of concurrent attempts, at least 1.
	Concurrency int
	// PollInterval is the average time between two polls if no notification arrives.
	PollInterval time.Duration
	// MaxDuration is the maximum duration of an attempt; 0 means no limit. An engine
	// that detects crashed workers may ignore it.
	MaxDuration time.Duration
	// Run runs an attempt. It does not panic, and returns soon after ctx is canceled.
	//
	// The engine derives ctx from the context of Engine.Work, without its cancellation.
	// It cancels ctx when the job is reassigned, and then ignores the outcome.
	Run func(ctx context.Context, a Attempt) Outcome
	// OnError reports a failed operation on the server. It does not block.
	OnError func(ctx context.Context, operation string, err error)
	// OnLost reports an outcome that the engine ignored, or may have ignored, because the
	// job was reassigned. It does not block. Nil disables the report. An engine that
	// cannot detect this does not call it.
	OnLost func(ctx context.Context, a Attempt, err error)
}

// Query selects records.
type Query struct {
	// State is the state of the records.
	State State
	// Kind is the kind of the records; "" means any kind.
	Kind string
	// After is the ID of the last record of the previous page, a UUID; "" means the first
	// page.
	After string
	// Limit is the page size, at least 1.
	Limit int
}

// InterfaceVersion is the version of this package. It increases with each change that
// breaks engines at run time although they still compile.
const InterfaceVersion = 1

// Capabilities describe an engine.
type Capabilities struct {
	// Interface is the InterfaceVersion that the engine implements; 0 means 1. Set it to
	// a literal, not to the constant. Startup fails if it differs from InterfaceVersion.
	Interface int
	// Name is a display name, such as "outbox on postgres".
	Name string
	// Transactional reports that Insert joins the database transaction of its context.
	Transactional bool
	// TakeoverTimeout is the maximum time between the crash of a worker and the
	// reassignment of its jobs, if another worker is running.
	TakeoverTimeout time.Duration
}

// Engine stores and assigns jobs. It is safe for concurrent use. A method returns the
// context's error when its context is done.
type Engine interface {
	Capabilities() Capabilities
	// Insert stores all jobs atomically. If the engine is transactional, it joins the
	// database transaction of ctx, if any. An ID that exists already or occurs twice is
	// an error. Insert does not modify jobs.
	Insert(ctx context.Context, jobs []Job) error
	// Work passes jobs to w.Run until ctx is canceled, then waits for running attempts
	// and stores their outcomes.
	//
	// It reports server outages to w.OnError and continues; it returns an error only if
	// it cannot start. It may be called repeatedly and concurrently.
	Work(ctx context.Context, w Work) error
	// Get returns a job. Package job passes only UUIDs to Get, Replay and Delete.
	Get(ctx context.Context, id string) (Record, error)
	// List returns a page of records ordered by ID, which is the order of creation.
	List(ctx context.Context, q Query) ([]Record, error)
	// Replay returns a dead job to the queue and resets its attempts. It returns ErrState
	// if the job is not dead.
	Replay(ctx context.Context, id string) error
	// Delete removes a waiting or dead job. It returns ErrState if the job is running, or
	// is done and still stored.
	Delete(ctx context.Context, id string) error
	// Ping checks that the server responds.
	Ping(ctx context.Context) error
	// Close releases the resources that the engine opened itself. The caller must wait
	// for Work to return first. After Close, every method except Capabilities and Close
	// returns ErrClosed.
	Close() error
}
