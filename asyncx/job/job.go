// Package job is durable jobs: work that is stored before it is done, and done by any
// replica.
//
// A kind of job has a name and the type of its arguments:
//
//	var Welcome = job.NewKind[WelcomeArgs]("user.welcome")
//
// It is stored in the same transaction as the change that it belongs to, so that there is
// both or neither:
//
//	err := xdb.Transaction(ctx, func(ctx context.Context) error {
//		if err := xdb.MustGetDB(ctx).Create(&user).Error; err != nil {
//			return err
//		}
//		_, err := Welcome.Enqueue(ctx, WelcomeArgs{UserID: user.ID})
//		return err
//	})
//
// The queue is a node, and the worker a task beside the server, in the same process or in
// one of its own:
//
//	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}}
//	reg := xreg.Register(ctx, nodes, xoption.WithDatabase(xoptdatabase.FromEnv()))
//	xmain.Runner(reg, log, nil, job.New(job.WithHandlers(Welcome.Handle(sendWelcome))))
//
// # What it promises
//
// A job whose Enqueue has returned, and whose transaction has committed, is run at least
// once by a process that handles its kind, whatever dies meanwhile; a repeat has the same
// id. It is tried again with growing waits until it succeeds or its attempts are used up;
// then it is kept as dead, and can be replayed. An attempt that a process did not survive
// is used up too, so that a job that kills its process does not do so for ever.
//
// At least once is not exactly once: a process may die between the work and the note that
// it is done. A handler does its work in a way that bears repetition, such as by the
// job's id.
//
// # Engines
//
// What keeps the jobs is an engine: outbox, a table in any database of xdb; river, River
// on PostgreSQL; asynq, asynq on Redis. The last one knows no transaction of the
// database, and Enqueue within one is refused there.
package job

import (
	"fmt"
	"regexp"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// The defaults of a kind.
const (
	defaultMaxAttempts = 25 // with the default backoff about 13 hours
	defaultTimeout     = time.Minute
)

// maxArgs is the largest size of encoded arguments, in bytes.
const maxArgs = 1 << 20

// Priority says which of the jobs that wait come first. A lower one waits for as long as
// there are higher ones.
type Priority int

// The priorities.
const (
	PriorityHigh    Priority = driver.MinPriority
	PriorityRaised  Priority = 2
	PriorityDefault Priority = 3
	PriorityLow     Priority = driver.MaxPriority
)

// Kind is a kind of job with arguments of type T, which travel as JSON. It is safe for
// concurrent use.
type Kind[T any] struct{ kind }

// kind is what is alike for all types of arguments.
type kind struct {
	name        string
	priority    Priority
	maxAttempts int
	timeout     time.Duration
	backoff     backoff.Policy
}

// KindOption changes how jobs of a kind are run.
type KindOption func(*kind)

// WithMaxAttempts says how often a job is tried before it is dead. The default is 25. It
// is stored with each job.
func WithMaxAttempts(n int) KindOption { return func(k *kind) { k.maxAttempts = n } }

// WithTimeout bounds one attempt: its context ends then. The default is a minute.
func WithTimeout(d time.Duration) KindOption { return func(k *kind) { k.timeout = d } }

// WithBackoff says how long a job waits after an attempt that failed. The default is
// backoff.Default.
func WithBackoff(p backoff.Policy) KindOption { return func(k *kind) { k.backoff = p } }

// WithPriority sets the priority of jobs that are stored without one of their own. The
// default is PriorityDefault.
func WithPriority(p Priority) KindOption { return func(k *kind) { k.priority = p } }

// validName is what a kind may be called. Engines use it in keys and names of queues.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

// NewKind returns the kind of that name: 1 to 100 characters of [a-z0-9._-]. The name is
// what is stored, so it stays as it is for as long as there are jobs. It panics where the
// name or an option makes no sense, since that is a mistake in the program.
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
		return fmt.Errorf("job: kind %q: a name is 1 to 100 characters of a-z, 0-9, dot, underscore and dash", k.name)
	case !k.priority.valid():
		return fmt.Errorf("job: kind %s: %d is no priority", k.name, k.priority)
	case k.maxAttempts < 1:
		return fmt.Errorf("job: kind %s: %d attempts are none", k.name, k.maxAttempts)
	case k.timeout <= 0:
		return fmt.Errorf("job: kind %s: a timeout of %s is none", k.name, k.timeout)
	case k.backoff == nil:
		return fmt.Errorf("job: kind %s: the backoff is nil", k.name)
	}
	return nil
}

func (p Priority) valid() bool { return p >= driver.MinPriority && p <= driver.MaxPriority }
