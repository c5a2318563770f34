// Package job stores and runs durable jobs. Any replica of the service can run a stored
// job.
//
// A kind of job has a name and an argument type:
//
//	var Welcome = job.NewKind[WelcomeArgs]("user.welcome")
//
// Enqueue stores a job in the transaction of the related change, so that either both are
// stored or neither is:
//
//	err := xdb.Transaction(ctx, func(ctx context.Context) error {
//		if err := xdb.MustGetDB(ctx).Create(&user).Error; err != nil {
//			return err
//		}
//		_, err := Welcome.Enqueue(ctx, WelcomeArgs{UserID: user.ID})
//		return err
//	})
//
// The queue is a node. The worker is a task that runs alongside the server, or in its own
// process:
//
//	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}}
//	reg := xreg.Register(ctx, nodes, xoption.WithDatabase(xoptdatabase.FromEnv()))
//	xmain.Runner(reg, log, nil, job.New(job.WithHandlers(Welcome.Handle(sendWelcome))))
//
// # Guarantees
//
// A job whose Enqueue returned and whose transaction committed runs at least once, even
// if processes crash. If a job runs again, its ID is the same.
//
// A failed job is retried with backoff until it succeeds or reaches its maximum number of
// attempts. Then it is dead-lettered, and can be replayed. An attempt counts even if its
// process crashed, so that a job that crashes its process is not retried forever.
//
// A process may crash after the handler has returned and before the outcome is stored.
// Handlers must therefore be idempotent, for example by using the job ID as a key.
//
// # Engines
//
// An engine stores the jobs. Package outbox uses a table of any xdb database, package
// river uses River on PostgreSQL, and package asynq uses asynq on Redis. asynq does not
// support transactions: Enqueue in a database transaction fails.
package job

import (
	"fmt"
	"regexp"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// Defaults of a kind.
const (
	defaultMaxAttempts = 25 // about 13 hours with the default backoff
	defaultTimeout     = time.Minute
)

// maxArgs is the maximum size of encoded arguments, in bytes.
const maxArgs = 1 << 20

// Priority orders waiting jobs. A worker starts due jobs with a higher priority first.
type Priority int

// Priorities, from highest to lowest.
const (
	PriorityHigh    Priority = driver.MinPriority
	PriorityRaised  Priority = 2
	PriorityDefault Priority = 3
	PriorityLow     Priority = driver.MaxPriority
)

// Kind is a kind of job with arguments of type T, which are stored as JSON. It is safe
// for concurrent use.
type Kind[T any] struct{ kind }

// kind is the part of Kind that does not depend on T.
type kind struct {
	name        string
	priority    Priority
	maxAttempts int
	timeout     time.Duration
	backoff     backoff.Policy
}

// KindOption configures a kind.
type KindOption func(*kind)

// WithMaxAttempts sets the maximum number of attempts before a job is dead-lettered. The
// default is 25. The number is stored with each job.
func WithMaxAttempts(n int) KindOption { return func(k *kind) { k.maxAttempts = n } }

// WithTimeout sets the timeout of one attempt. The default is one minute.
func WithTimeout(d time.Duration) KindOption { return func(k *kind) { k.timeout = d } }

// WithBackoff sets the wait after a failed attempt. The default is backoff.Default.
func WithBackoff(p backoff.Policy) KindOption { return func(k *kind) { k.backoff = p } }

// WithPriority sets the default priority of the kind's jobs. The default is
// PriorityDefault.
func WithPriority(p Priority) KindOption { return func(k *kind) { k.priority = p } }

// validName matches names of kinds. Engines use them in keys and queue names.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

// NewKind returns a kind with the given name: 1 to 100 characters of [a-z0-9._-]. The
// name is stored with each job, so do not change it while jobs exist. NewKind panics if
// the name or an option is invalid.
func NewKind[T any](name string, options ...KindOption) *Kind[T] {
	k := kind{
		name: name, priority: PriorityDefault, maxAttempts: defaultMaxAttempts,
		timeout: defaultTimeout, backoff: backoff.Default(),
	}
	for _, option := range options {
		if option != nil {
			option(&k)
		}
	}
	if err := k.check(); err != nil {
		panic(err)
	}
	return &Kind[T]{k}
}

// Name returns the name of the kind.
func (k *kind) Name() string { return k.name }

func (k *kind) check() error {
	switch {
	case !validName.MatchString(k.name):
		return fmt.Errorf("job: kind %q: invalid name: use 1 to 100 characters of a-z, 0-9, "+
			"dot, underscore and dash", k.name)
	case !k.priority.valid():
		return fmt.Errorf("job: kind %s: invalid priority %d", k.name, k.priority)
	case k.maxAttempts < 1:
		return fmt.Errorf("job: kind %s: %d attempts: use at least 1", k.name, k.maxAttempts)
	case k.timeout <= 0:
		return fmt.Errorf("job: kind %s: timeout %s is not positive", k.name, k.timeout)
	case k.backoff == nil:
		return fmt.Errorf("job: kind %s: the backoff is nil", k.name)
	}
	return nil
}

func (p Priority) valid() bool { return p >= driver.MinPriority && p <= driver.MaxPriority }
