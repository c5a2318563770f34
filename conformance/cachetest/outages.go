package cachetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/testserver"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

var outageChecks = []check{
	{"Outage/Timeouts", testOutage},
	{"Outage/FailOpen", testOutageOpen},
	{"Outage/RecoveryUnderLoad", testOutageLoad},
	{"Outage/NetworkRecovery", testOutageNetwork},
	{"Outage/BrokenConnection", testOutageConnection},
	{"Outage/UnresponsiveServer", testOutageSilence},
}

const (
	// callTimeout is the deadline of calls.
	callTimeout = 500 * time.Millisecond
	// slack is the tolerated delay on a busy machine. A call that ignores its deadline
	// exceeds it.
	slack = time.Second
	// failsWithin is the default of Harness.FailsWithin.
	failsWithin = 5 * time.Second
	// recoversWithin is the maximum recovery time of a store.
	recoversWithin = 5 * time.Second
)

// outage returns the outage of the harness, or skips the check.
func (e *env) outage(t *testing.T) Outage {
	t.Helper()
	if e.h.Outage == nil {
		t.Skip("no Outage in the harness")
	}
	if e.h.FailsWithin == 0 {
		e.h.FailsWithin = failsWithin
	}
	return e.h.Outage(t)
}

// openWith opens a manager with the settings c.
func (e *env) openWith(
	t *testing.T, c driver.Config, opts ...xcache.ManagerOption,
) *xcache.Manager {
	t.Helper()
	store, err := e.h.Driver.Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return e.manage(t, store, opts...)
}

// result is the result of a call.
type result struct {
	call
	err      error
	duration time.Duration
	ended    bool // the context has ended or ends within 10 ms: a driver may detect it early
}

// try executes one call.
func try(ctx context.Context, c call) result {
	start := time.Now()
	err := c.run(ctx, c.key())
	duration := time.Since(start)
	deadline, limited := ctx.Deadline()
	ended := ctx.Err() != nil || limited && time.Until(deadline) < 10*time.Millisecond
	return result{call: c, err: err, duration: duration, ended: ended}
}

// problem describes an incorrect result of a call during an outage, or returns "".
func (o result) problem(e *env, limit time.Duration) string {
	ofContext := errors.Is(o.err, context.DeadlineExceeded) || errors.Is(o.err, context.Canceled)
	switch {
	case o.duration > limit:
		return fmt.Sprintf("returned after %s, want at most %s (%v)", o.duration, limit, o.err)
	case o.err == nil:
		return "returned no error"
	case strings.Contains(o.err.Error(), e.prefix):
		return fmt.Sprintf("returned an error that contains the key: %v", o.err)
	case ofContext && !o.ended:
		return fmt.Sprintf("returned the error of an active context: %v", o.err)
	case ofContext || o.otherErrors:
		return ""
	case !errors.Is(o.err, xcache.ErrUnavailable):
		return fmt.Sprintf("returned an error other than ErrUnavailable: %v", o.err)
	case xerror.From(o.err).GetErrorCode() != outageCode(o.err):
		return fmt.Sprintf("returned the error code %v, want %v: %v",
			xerror.From(o.err).GetErrorCode(), outageCode(o.err), o.err)
	}
	return ""
}

// outageCode returns the expected error code of a call without a backend, which depends
// on whether it timed out.
func outageCode(err error) *xerror.ErrorCode {
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return xerror.GatewayTimeout
	}
	return xerror.ServiceUnavailable
}

// runAll executes all calls concurrently, each with the deadline; 0 means no deadline.
func runAll(t *testing.T, m *xcache.Manager, deadline time.Duration) []result {
	t.Helper()
	list := calls(m)
	out := make([]result, len(list))
	together(len(list), func(i int) {
		ctx, cancel := t.Context(), func() {}
		if deadline > 0 {
			ctx, cancel = context.WithTimeout(ctx, deadline)
		}
		defer cancel()
		out[i] = try(ctx, list[i])
	})
	return out
}

// wantDown fails the test for each incorrect result during an outage.
func (e *env) wantDown(t *testing.T, when string, got []result, limit time.Duration) {
	t.Helper()
	for _, o := range got {
		if p := o.problem(e, limit); p != "" {
			t.Errorf("%s: %s %s", when, o.name, p)
		}
	}
}

// wantRecovery repeats all calls with the same manager until they succeed.
func (e *env) wantRecovery(t *testing.T, m *xcache.Manager) {
	t.Helper()
	deadline := time.Now().Add(recoversWithin)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		var err error
		for _, o := range runAll(t, m, 2*callTimeout) {
			if o.err != nil {
				err = fmt.Errorf("%s: %w", o.name, o.err)
			}
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no recovery %s after the server restarted: %v", recoversWithin, err)
		}
		<-ticker.C
	}
}

func testOutage(t *testing.T, e *env) {
	o := e.outage(t)
	m := e.openWith(t, o.Config)
	fillAll(t, m)
	must(t, o.Stop())
	e.wantDown(t, "with a deadline", runAll(t, m, callTimeout), callTimeout+slack)
	e.wantDown(t, "with a deadline, second call", runAll(t, m, callTimeout), callTimeout+slack)
	e.wantDown(t, "without a deadline", runAll(t, m, 0), e.h.FailsWithin+slack)
	ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
	defer cancel()
	start := time.Now()
	store, err := e.h.Driver.Open(ctx, o.Config)
	if err == nil { // some drivers connect with the first call
		err = errors.Join(store.Ping(ctx), store.Close())
	}
	duration := time.Since(start)
	if err == nil || errors.Is(err, driver.ErrConfig) || duration > callTimeout+slack {
		t.Errorf("Open and Ping = %v after %s; want a temporary error within %s",
			err, duration, callTimeout+slack)
	}
	must(t, o.Start())
	e.wantRecovery(t, m)
}

func testOutageOpen(t *testing.T, e *env) {
	o := e.outage(t)
	open, strict := e.openWith(t, o.Config, xcache.WithFailOpen()), e.openWith(t, o.Config)
	users := xcache.KeyCacheOf[string, user](open, xcache.WithNegativeTTL(time.Minute))
	must(t, users.Set(t.Context(), "k", &user{ID: 1}))
	must(t, o.Stop())
	loads := 0
	load := func(context.Context) (*user, error) {
		loads++
		return &user{ID: 2}, nil
	}
	start := time.Now()
	got, ok, err := users.GetOrLoad(t.Context(), "k", load)
	if limit := 4 * e.h.FailsWithin; time.Since(start) > limit {
		t.Errorf("GetOrLoad returned after %s, want at most %s", time.Since(start), limit)
	}
	if err != nil || !ok || got.ID != 2 || loads != 1 {
		t.Errorf("GetOrLoad with FailOpen = %v, %t, %v after %d loads; want the value of one load",
			got, ok, err, loads)
	}
	_, _, err = users.Get(t.Context(), "k")
	if xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable {
		t.Errorf("Get = %v, want ServiceUnavailable", err)
	}
	_, ok, err = xcache.KeyCacheOf[string, user](strict).GetOrLoad(t.Context(), "k", load)
	if ok || xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable || loads != 1 {
		t.Errorf("GetOrLoad without FailOpen = %t, %v after %d loads; "+
			"want ServiceUnavailable and no load", ok, err, loads)
	}
	must(t, o.Start())
	e.wantRecovery(t, open)
}

func testOutageLoad(t *testing.T, e *env) { e.testRecovery(t, e.outage(t)) }

func testOutageNetwork(t *testing.T, e *env) { e.testRecovery(t, CutOff(t, e.outage(t).Config)) }

// testRecovery runs two outages while calls continue. The manager stays open.
func (e *env) testRecovery(t *testing.T, o Outage) {
	t.Helper()
	m := e.openWith(t, o.Config)
	fillAll(t, m)
	w := startWorkload(t, e, m)
	defer w.end()
	pause(200 * time.Millisecond)
	for range 2 {
		w.setOutage(true)
		must(t, o.Stop())
		pause(300 * time.Millisecond)
		must(t, o.Start())
		e.wantRecovery(t, m)
		w.setOutage(false)
		pause(200 * time.Millisecond)
	}
	w.end()
	w.report(t)
}

// pause sleeps in real time.
func pause(d time.Duration) { <-time.After(d) }

// workload runs goroutines that continuously execute all calls.
type workload struct {
	once    sync.Once
	stop    chan struct{}
	running sync.WaitGroup

	mu       sync.Mutex
	outage   bool
	failed   int
	problems map[string]bool
}

// workloadPause is the pause of each goroutine between two calls.
const workloadPause = 2 * time.Millisecond

func startWorkload(t *testing.T, e *env, m *xcache.Manager) *workload {
	w := &workload{stop: make(chan struct{}), problems: map[string]bool{}}
	list := calls(m)
	for first := range callers {
		w.running.Go(func() {
			ticker := time.NewTicker(workloadPause)
			defer ticker.Stop()
			for i := first; ; i++ {
				select {
				case <-w.stop:
					return
				case <-ticker.C:
					w.call(t.Context(), e, list[i%len(list)])
				}
			}
		})
	}
	return w
}

// call executes one call and records its problems.
func (w *workload) call(ctx context.Context, e *env, c call) {
	before := w.inOutage()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	o := try(ctx, c)
	after := w.inOutage()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case o.err == nil && o.duration <= callTimeout+slack:
		return
	case o.err != nil && !before && !after:
		w.problems[fmt.Sprintf("%s failed while the server was available: %v",
			c.name, o.err)] = true
		return
	}
	w.failed++
	if p := o.problem(e, callTimeout+slack); p != "" {
		w.problems[c.name+" "+p] = true
	}
}

func (w *workload) setOutage(outage bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outage = outage
}

func (w *workload) inOutage() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.outage
}

func (w *workload) end() {
	w.once.Do(func() { close(w.stop) })
	w.running.Wait()
}

func (w *workload) report(t *testing.T) {
	t.Helper()
	if w.failed == 0 {
		t.Error("no call failed during the outage")
	}
	shown := 0
	for p := range w.problems {
		if shown++; shown > 5 {
			t.Errorf("and %d more", len(w.problems)-shown+1)
			break
		}
		t.Error(p)
	}
}

// startSilence opens a manager behind a network that drops all packets.
func (e *env) startSilence(t *testing.T) (*xcache.Manager, *testserver.Relay) {
	t.Helper()
	r, config := startRelay(t, e.outage(t).Config)
	m := e.openWith(t, config)
	fillAll(t, m)
	runAll(t, m, 0) // establishes connections and loads scripts
	fillAll(t, m)
	r.Block()
	return m, r
}

// testOutageConnection closes the connections of in-flight calls.
func testOutageConnection(t *testing.T, e *env) {
	m, r := e.startSilence(t)
	done := make(chan []result, 1)
	go func() { done <- runAll(t, m, 20*e.h.FailsWithin) }()
	pause(300 * time.Millisecond) // the calls are in flight
	must(t, r.Stop())
	e.wantDown(t, "connection closed", <-done, e.h.FailsWithin+slack)
	must(t, r.Start())
	e.wantRecovery(t, m)
}

func testOutageSilence(t *testing.T, e *env) {
	m, r := e.startSilence(t)
	for _, when := range []string{"unresponsive", "unresponsive, second call"} {
		got := runAll(t, m, callTimeout)
		e.wantDown(t, when, got, callTimeout+slack)
		for _, o := range got {
			if o.err != nil && !errors.Is(o.err, context.DeadlineExceeded) {
				t.Errorf("%s: %s = %v, want the context error", when, o.name, o.err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	canceled := make(chan result, 1)
	go func() { canceled <- try(ctx, calls(m)[0]) }()
	pause(100 * time.Millisecond)
	cancel()
	e.wantDown(t, "canceled", []result{<-canceled}, 100*time.Millisecond+slack)
	e.wantDown(t, "unresponsive, without a deadline", runAll(t, m, 0), e.h.FailsWithin+slack)
	r.Unblock()
	e.wantRecovery(t, m)
}
