package cronx

import "time"

// JobOption changes a job.
type JobOption func(*Job)

// WithName names the job, in logs and among replicas: 1 to 100 printable ASCII characters
// without spaces. No two jobs of a runner have one name, and no two that run once in a
// cluster in all programs which share the leases. By default it is the name of the
// function.
func WithName(name string) JobOption {
	return func(j *Job) { j.name, j.named = name, true }
}

// WithLocation reads the spec in a time zone instead of the runner's. A zone in the spec
// goes before it; nil is ignored.
func WithLocation(zone *time.Location) JobOption {
	return func(j *Job) {
		if zone != nil {
			j.zone = zone
		}
	}
}

// WithOverlap lets a run begin while an earlier one of the job goes on. By default the
// tick is skipped then, with a warning.
func WithOverlap() JobOption { return func(j *Job) { j.overlap = true } }

// WithTimeout ends the context of a run after d. By default it has no end but the stop.
func WithTimeout(d time.Duration) JobOption {
	return func(j *Job) { j.timeout, j.timeoutSet = d, true }
}

// WithSingleRun runs each tick once among all replicas, and not once on each. It needs
// WithName, and leases that decide among the replicas: those of a database or a Redis
// that the application opens. Without WithOverlap no two runs of the job go on at a time
// in the whole cluster.
//
// Each tick is run at most once: one whose process dies after it has taken the tick is
// lost. Work that must not be lost is handed to a durable job by the tick.
func WithSingleRun() JobOption { return func(j *Job) { j.singleRun = true } }
