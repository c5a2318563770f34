package asynq

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// allQueues is asynq's set of queue names.
const allQueues = "asynq:queues"

// Suffixes of asynq's keys.
const (
	taskPart      = "t:"
	pendingPart   = "pending"
	scheduledPart = "scheduled"
	retryPart     = "retry"
	activePart    = "active"
	archivedPart  = "archived"
	completedPart = "completed"
	pausedPart    = "paused"
	leasePart     = "lease"
)

// key returns the Redis key of a part of a queue.
func key(queue, part string) string { return "asynq:{" + queue + "}:" + part }

func taskKey(queue, id string) string { return key(queue, taskPart) + id }

// names maps kinds and priorities to queue names.
type names struct{ prefix string }

func (n names) queue(kind string, priority int) string {
	return n.prefix + kind + ":" + strconv.Itoa(priority)
}

// parse is the inverse of queue. ok is false for queues of other services. A kind
// contains no colon.
func (n names) parse(queue string) (kind string, priority int, ok bool) {
	rest, ours := strings.CutPrefix(queue, n.prefix)
	kind, digit, found := strings.Cut(rest, ":")
	priority, err := strconv.Atoi(digit)
	ok = ours && found && kind != "" && err == nil && priority >= driver.MinPriority &&
		priority <= driver.MaxPriority
	return kind, priority, ok
}

// Headers of a task.
const (
	headerMaxAttempts = "max_attempts"
	headerCreated     = "created" // nanoseconds since 1970
	headerRunAt       = "run_at"  // nanoseconds since 1970
	headerMeta        = "meta."   // followed by the key
)

func headersOf(j *driver.Job, created time.Time) map[string]string {
	h := map[string]string{
		headerMaxAttempts: strconv.Itoa(j.MaxAttempts),
		headerCreated:     strconv.FormatInt(created.UnixNano(), 10),
		headerRunAt:       strconv.FormatInt(created.Add(j.Delay).UnixNano(), 10),
	}
	for k, v := range j.Meta {
		h[headerMeta+k] = v
	}
	return h
}

// replayHeaders returns a copy of headers with now as the time of the next attempt.
func replayHeaders(headers map[string]string, now time.Time) map[string]string {
	h := map[string]string{}
	maps.Copy(h, headers)
	h[headerRunAt] = strconv.FormatInt(now.UnixNano(), 10)
	return h
}

// foreignAttempts is the maximum number of attempts of a task from another program.
const foreignAttempts = 25

// jobOf returns the job of a task. A task from another program has no headers.
func (n names) jobOf(id, queue, kind string, args []byte, headers map[string]string) driver.Job {
	j := driver.Job{ID: id, Kind: kind, Args: args, MaxAttempts: foreignAttempts}
	_, j.Priority, _ = n.parse(queue)
	if attempts, err := strconv.Atoi(headers[headerMaxAttempts]); err == nil {
		j.MaxAttempts = attempts
	}
	for k, v := range headers {
		if name, ok := strings.CutPrefix(k, headerMeta); ok {
			if j.Meta == nil {
				j.Meta = map[string]string{}
			}
			j.Meta[name] = v
		}
	}
	return j
}

// timeOf returns a time from the headers, or the zero time.
func timeOf(headers map[string]string, name string) time.Time {
	nanos, err := strconv.ParseInt(headers[name], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}
