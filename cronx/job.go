package cronx

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/plinthgo/plinth/cronx/internal/schedule"
)

// ErrJob is what everything wrong with a job is: its spec, its name, an option.
var ErrJob = errors.New("cronx: wrong job")

// Func is what a job runs. An error that it returns is logged; the next run comes as it
// would have.
type Func interface {
	func(ctx context.Context) | func(ctx context.Context) error
}

// Job is something to run on a schedule. It does not change and may be registered with
// several runners.
type Job struct {
	spec       string
	run        func(ctx context.Context) error
	name       string
	named      bool // by WithName
	zone       *time.Location
	overlap    bool
	timeout    time.Duration
	timeoutSet bool
	singleRun  bool
}

// NewJob returns a job that runs fn whenever spec is due. What is wrong is told by Err,
// and by the runner at its start.
//
// The context of fn has the application's values, a request id of its own, and the tick
// of TickFrom. It ends when the time of WithTimeout or of the runner's graceful stop has
// run out.
func NewJob[F Func](spec string, fn F, opts ...JobOption) *Job {
	j := &Job{spec: spec}
	switch run := any(fn).(type) {
	case func(ctx context.Context) error:
		j.run = run
	case func(ctx context.Context):
		if run != nil {
			j.run = func(ctx context.Context) error {
				run(ctx)
				return nil
			}
		}
	}
	if j.run != nil {
		j.name = funcName(fn)
	}
	for _, o := range opts {
		if o != nil {
			o(j)
		}
	}
	return j
}

// funcName returns the name of a function without its path and what the compiler adds to
// a method.
func funcName(fn any) string {
	name := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.NewReplacer("(*", "", ")", "", "[...]",
		"").Replace(strings.TrimSuffix(name, "-fm"))
	return name[:min(len(name), maxName)]
}

// Name returns the name of WithName, or that of the function.
func (j *Job) Name() string { return j.name }

// Spec returns the spec as it was given.
func (j *Job) Spec() string { return j.spec }

// Named reports whether the name is that of WithName.
func (j *Job) Named() bool { return j.named }

// Overlap reports whether a run may begin while another goes on.
func (j *Job) Overlap() bool { return j.overlap }

// SingleRun reports whether each tick runs once among all replicas.
func (j *Job) SingleRun() bool { return j.singleRun }

// Timeout returns how long a run may take; 0 is without end.
func (j *Job) Timeout() time.Duration { return j.timeout }

// Run runs the job's function now, in this goroutine, as a test does: without a log line,
// and a panic is the caller's.
func (j *Job) Run(ctx context.Context) error { return j.run(ctx) }

// Schedule is when a job is due.
type Schedule struct{ s *schedule.Schedule }

// Next returns the first moment after t, or the zero time where there is none.
func (s Schedule) Next(t time.Time) time.Time { return s.s.Next(t) }

// Location returns the time zone in which the spec is read.
func (s Schedule) Location() *time.Location { return s.s.Location() }

// Schedule returns when the job is due. zone is that of a job without one of its own, in
// its spec or by WithLocation; nil is the local one. The error has all that is wrong with
// the job.
func (j *Job) Schedule(zone *time.Location) (Schedule, error) {
	switch {
	case j == nil:
		return Schedule{}, fmt.Errorf("%w: it is nil", ErrJob)
	case j.zone != nil:
		zone = j.zone
	case zone == nil:
		zone = time.Local
	}
	s, err := schedule.Parse(j.spec, zone)
	problems := j.problems()
	if err != nil {
		problems = append(problems,
			fmt.Errorf("the spec %q: %w", j.spec[:min(len(j.spec), maxSpec)], err))
	}
	for i, p := range problems {
		problems[i] = fmt.Errorf("%w: %q: %w", ErrJob, j.name, p)
	}
	if err := errors.Join(problems...); err != nil {
		return Schedule{}, err
	}
	return Schedule{s: s}, nil
}

// Err returns everything that is wrong with the job, or nil.
func (j *Job) Err() error {
	_, err := j.Schedule(nil)
	return err
}

const (
	maxName = 100 // bytes
	maxSpec = 200 // bytes that are quoted
)

// problems returns what is wrong beside the spec.
func (j *Job) problems() []error {
	var list []error
	if j.run == nil {
		list = append(list, errors.New("its function is nil"))
	}
	if j.named && !validName(j.name) {
		list = append(list, fmt.Errorf(
			"the name (accepted: 1 to %d printable ASCII characters without spaces)", maxName))
	}
	if j.timeoutSet && j.timeout <= 0 {
		list = append(list, fmt.Errorf("WithTimeout: %s is no duration above 0", j.timeout))
	}
	if j.singleRun && !j.named {
		list = append(list, errors.New(
			"WithSingleRun needs WithName: the name is what replicas know the job by, "+
				"and that of a function changes with the code"))
	}
	return list
}

// validName reports whether a name can stand in a line of a log and in the name of a
// lease.
func validName(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}
