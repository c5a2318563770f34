package asynq_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/jobtest"
	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/conformance/cachetest"
)

const (
	// lateTolerance covers asynq's rounding to seconds and the time of a dequeue.
	lateTolerance = 1200 * time.Millisecond
	// timeout is longer than asynq's interval of one minute for expired leases.
	timeout = 90 * time.Second
)

// skippedChecks are checks that would wait too long for asynq's takeover.
var skippedChecks = map[string]string{
	"Takeover/ARunningWorkerKeepsALongJob": "the check would take four minutes, " +
		"twice the takeover timeout of asynq; TestEngine_LongJob covers a job that runs longer " +
		"than its lease",
}

func TestEngine(t *testing.T) {
	t.Parallel()
	address, source := cachetest.Server(t, redis.Name)
	jobtest.Run(t, jobtest.Harness{
		Open: func(tb testing.TB) jobtest.Store {
			tb.Helper()
			outage := cachetest.CutOff(tb, parts(tb, address))
			p := newTestQueue(tb, parts(tb, address), source)
			p.config = outage.Config
			do := func(fn func() error) func(tb testing.TB) {
				return func(tb testing.TB) {
					tb.Helper()
					if err := fn(); err != nil {
						tb.Fatal(err)
					}
				}
			}
			return jobtest.Store{
				Connect: func(tb testing.TB) jobtest.Replica {
					tb.Helper()
					return p.replica(tb)
				},
				Stop: do(outage.Stop), Start: do(outage.Start),
			}
		},
		LateTolerance: lateTolerance, Timeout: timeout, Source: source, Server: version(t),
		Differences: skippedChecks,
	})
}

var versionLine = regexp.MustCompile(`redis_version:(\S+)`)

// version returns the version of the server.
func version(t *testing.T) string {
	t.Helper()
	ctx, client := onRedis(t).app(t)
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	m := versionLine.FindStringSubmatch(info)
	if m == nil {
		t.Fatal("the server returned no version")
	}
	return "Redis " + m[1]
}
