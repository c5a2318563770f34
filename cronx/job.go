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

// ErrJob reports an invalid job: its spec, name or options.
var ErrJob = errors.New("cronx: invalid job")

// Func is the function of a job. The runner logs a returned error, which does not affect
// the next run.
type Func interface {
	func(ctx context.Context) | func(ctx context.Context) error
}

// Job is a scheduled job. It is immutable and may be registered with several runners.
type Job struct {
	spec       string
	run        func(ctx context.Context) error
	name       string
	named      bool // set by WithName
	zone       *time.Location
	overlap    bool
	timeout    time.Duration
	timeoutSet bool
	singleRun  bool
}

// NewJob returns a job that runs fn whenever spec is due. Err and the start of the runner
// report invalid arguments.
//
// The context of fn carries the application's values, a new request ID and the Tick that
// TickFrom returns. It is canceled after the timeout of WithTimeout, and when the
// runner's graceful stop timeout expires.
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

// funcName returns the name of a function without its path and without the compiler's
// notation for methods.
func funcName(fn any) string {
	name := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
	name = name[strings.LastIndexByte(name, '/')+1:]
	notation := strings.NewReplacer("(*", "", ")", "", "[...]", "")
	name = notation.Replace(strings.TrimSuffix(name, "-fm"))
	return name[:min(len(name), maxName)]
}

// Name returns the name of WithName, or the name of the function.
func (j *Job) Name() string { return j.name }

// Spec returns the spec passed to NewJob.
func (j *Job) Spec() string { return j.spec }

// Named reports whether WithName set the name.
func (j *Job) Named() bool { return j.named }

// Overlap reports whether runs may overlap.
func (j *Job) Overlap() bool { return j.overlap }

// SingleRun reports whether each tick runs on only one of all replicas.
func (j *Job) SingleRun() bool { return j.singleRun }

// Timeout returns the timeout of a run; 0 means no timeout.
func (j *Job) Timeout() time.Duration { return j.timeout }

// Run calls the job's function in the current goroutine, for example in a test. It does
// not log and does not recover panics.
func (j *Job) Run(ctx context.Context) error { return j.run(ctx) }

// Schedule computes the times at which a job is due.
type Schedule struct{ s *schedule.Schedule }

// Next returns the first due time after t, or the zero time.
func (s Schedule) Next(t time.Time) time.Time { return s.s.Next(t) }

// Location returns the time zone of the spec.
func (s Schedule) Location() *time.Location { return s.s.Location() }

// Schedule returns the schedule of the job. zone applies if neither the spec nor
// WithLocation sets a zone. A nil zone means the local zone. The error wraps ErrJob and
// contains all problems of the job.
func (j *Job) Schedule(zone *time.Location) (Schedule, error) {
	switch {
	case j == nil:
		return Schedule{}, fmt.Errorf("%w: nil job", ErrJob)
	case j.zone != nil:
		zone = j.zone
	case zone == nil:
		zone = time.Local
	}
	s, err := schedule.Parse(j.spec, zone)
	problems := j.problems()
	if err != nil {
		problems = append(problems,
			fmt.Errorf("spec %q: %w", j.spec[:min(len(j.spec), maxSpec)], err))
	}
	for i, p := range problems {
		problems[i] = fmt.Errorf("%w: %q: %w", ErrJob, j.name, p)
	}
	if err := errors.Join(problems...); err != nil {
		return Schedule{}, err
	}
	return Schedule{s: s}, nil
}

// Err returns all problems of the job, or nil.
func (j *Job) Err() error {
	_, err := j.Schedule(nil)
	return err
}

const (
	maxName = 100 // bytes
	maxSpec = 200 // maximum quoted length in bytes
)

// problems returns all problems except those of the spec.
func (j *Job) problems() []error {
	var list []error
	if j.run == nil {
		list = append(list, errors.New("nil function"))
	}
	if j.named && !validName(j.name) {
		list = append(list, fmt.Errorf(
			"invalid name: use 1 to %d printable ASCII characters without spaces", maxName))
	}
	if j.timeoutSet && j.timeout <= 0 {
		list = append(list, fmt.Errorf("WithTimeout: %s is not positive", j.timeout))
	}
	if j.singleRun && !j.named {
		list = append(list, errors.New(
			"WithSingleRun requires WithName: the name identifies the job on all replicas, "+
				"and a function name may change with the code"))
	}
	return list
}

// validName reports whether name can be used in log messages and lease names.
func validName(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}
