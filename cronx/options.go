package cronx

import "time"

// JobOption configures a job.
type JobOption func(*Job)

// WithName sets the name of the job: 1 to 100 printable ASCII characters without spaces.
// Names must be unique within a runner. Names of single-run jobs must be unique among all
// programs that share the leases. The default is the name of the function.
func WithName(name string) JobOption {
	return func(j *Job) { j.name, j.named = name, true }
}

// WithLocation sets the time zone of the spec, instead of the runner's zone. A zone in
// the spec has precedence. A nil zone is ignored.
func WithLocation(zone *time.Location) JobOption {
	return func(j *Job) {
		if zone != nil {
			j.zone = zone
		}
	}
}

// WithOverlap allows overlapping runs of the job. By default, a tick during a run is
// skipped with a warning.
func WithOverlap() JobOption { return func(j *Job) { j.overlap = true } }

// WithTimeout sets the timeout of a run. By default only the shutdown limits a run.
func WithTimeout(d time.Duration) JobOption {
	return func(j *Job) { j.timeout, j.timeoutSet = d, true }
}

// WithSingleRun runs each tick once among all replicas, instead of once on each replica.
// It requires WithName, and an application with leases in a database or in Redis. Without
// WithOverlap, runs of the job do not overlap in the whole cluster.
//
// Each tick runs at most once: if the process crashes after it has claimed a tick, that
// tick is lost. If that is not acceptable, enqueue a durable job in the run.
func WithSingleRun() JobOption { return func(j *Job) { j.singleRun = true } }
