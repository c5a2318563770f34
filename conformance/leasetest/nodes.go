package leasetest

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// NodesHarness describes a backend that processes share.
type NodesHarness struct {
	// Address is the argument of the open function of Child.
	Address string

	// Forget is as in Harness.
	Forget func(tb testing.TB, name string)

	// Source and Server are as in Harness.
	Source, Server string

	// Each is the number of IDs per process; 0 means a million.
	Each int
}

const (
	// shortLease is the minimum of SNOWFLAKE_LEASE_TTL.
	shortLease = 3 * time.Second
	// longLease is for processes that use all processors.
	longLease = 10 * time.Second
)

// Nodes checks that IDs are unique. It starts processes on this host that share only the
// backend and have no configured node ID. It runs for about half a minute.
//
// The node IDs are slots of xsnowflake.LeaseName, which other processes must not hold.
func Nodes(t *testing.T, h NodesHarness) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot be suspended on Windows")
	}
	if h.Each == 0 {
		h.Each = 1_000_000
	}
	run := &testreport.Run{
		Family: "lease",
		Source: h.Source, Server: h.Server, Tests: len(proofs) + 3,
	}
	if h.Source != "" {
		testreport.Record(t, run)
	}
	t.Run("SixteenProcesses", func(t *testing.T) {
		run.Backend = runSixteen(t, newFamily(t, h)) + " ids"
	})
	t.Run("MoreProcessesThanNodeIDs", func(t *testing.T) { runTooMany(t, newFamily(t, h)) })
	var all sync.WaitGroup // they mostly wait, so -parallel need not limit them
	for _, p := range proofs {
		all.Go(func() { t.Run(p.name, func(t *testing.T) { p.run(t, newFamily(t, h)) }) })
	}
	all.Wait()
	t.Run("ForgottenHolders", func(t *testing.T) {
		if h.Forget == nil {
			t.Skip("the backend does not support Forget")
		}
		runForgotten(t, newFamily(t, h))
	})
}

// proofs use different node IDs and run concurrently.
var proofs = []struct {
	name string
	run  func(t *testing.T, f *family)
}{
	{"StoppedAndContinued", func(t *testing.T, f *family) {
		runStopped(t, f, role{First: 40, Count: 1, TTL: shortLease})
	}},
	{"StoppedAndContinuedWithAnotherNodeID", func(t *testing.T, f *family) {
		runStopped(t, f, role{First: 41, Count: 2, TTL: shortLease})
	}},
	{"ClockTenSecondsBack", func(t *testing.T, f *family) { runClockBack(t, f) }},
	{
		"TakenOverByASlowerClock",
		func(t *testing.T, f *family) { runTakenOver(t, f, 44, 3*time.Second, -time.Second) },
	},
	{
		"TakenOverByAFasterClock",
		func(t *testing.T, f *family) { runTakenOver(t, f, 45, -3*time.Second, 3*time.Second) },
	},
	{"KilledAndRestarted", func(t *testing.T, f *family) { runKilled(t, f) }},
}

// sixteen generates IDs in 16 concurrent processes.
func runSixteen(t *testing.T, f *family) (backend string) {
	var all []*process
	for range 16 {
		all = append(all, f.launch(t, role{TTL: longLease}))
	}
	taken := map[int]bool{}
	for _, p := range all {
		p.ready(t)
		if taken[p.slot] {
			t.Errorf("node ID %d is used twice", p.slot)
		}
		taken[p.slot] = true
	}
	start := time.Now()
	for _, p := range all {
		p.send("make " + strconv.Itoa(f.h.Each))
	}
	for _, p := range all {
		if r := p.made(t); r.made != f.h.Each || r.failed != 0 {
			t.Errorf("a process generated %d of %d IDs: %s", r.made, f.h.Each, r.failure)
		}
	}
	t.Logf("%d IDs in %s", 16*f.h.Each, time.Since(start).Round(time.Millisecond))
	for _, p := range all {
		p.close(t)
	}
	f.distinct(t, 16*f.h.Each)
	return all[0].backend
}

// tooMany starts more processes than a datacenter has node IDs.
func runTooMany(t *testing.T, f *family) {
	datacenter := 7
	r := role{TTL: longLease, Datacenter: &datacenter, Wait: true}
	var all []*process
	for range 8 {
		all = append(all, f.launch(t, r))
	}
	for _, p := range all {
		p.ready(t)
		p.order(t, "run", "running")
	}
	r.Wait, r.TTL = false, shortLease
	err := f.launch(t, r).waitReady()
	if err == nil || !strings.Contains(err.Error(), "every node ID is held: all 8 are held in") {
		t.Errorf("ninth process = %v, want an error that every node ID is held", err)
	}
	for _, p := range all {
		if r := p.stop(t); r.failed != 0 {
			t.Errorf("%d errors of a holder: %s", r.failed, r.failure)
		}
	}
	all[3].close(t)
	ninth := f.start(t, r)
	if ninth.slot != all[3].slot {
		t.Errorf("node ID of the ninth process = %d, want the released %d",
			ninth.slot, all[3].slot)
	}
	ninth.make(t, 1000)
	for _, p := range append(all[:3], append(all[4:], ninth)...) {
		p.close(t)
	}
	f.distinct(t, 8*256)
}

// stopped suspends a process until its lease expires and another process holds its node
// ID, and then continues it.
func runStopped(t *testing.T, f *family, r role) {
	r.Wait = true
	first := f.start(t, r)
	first.order(t, "run", "running")
	pass(300 * time.Millisecond)
	if err := freeze(first.cmd.Process); err != nil {
		t.Fatal(err)
	}
	second := f.start(t, role{First: first.slot, Count: 1, TTL: r.TTL, Wait: true})
	second.order(t, "run", "running")
	number := first.slot
	pass(300 * time.Millisecond)
	if err := thaw(first.cmd.Process); err != nil {
		t.Fatal(err)
	}
	pass(2 * time.Second) // the process continues
	got := first.stop(t)
	if got.failed == 0 && first.slot == number {
		t.Error("the suspended process did not detect the lost lease")
	}
	if got.failed > 0 && !strings.Contains(got.failure, xlease.ErrLost.Error()) {
		t.Errorf("error = %q, want xlease.ErrLost", got.failure)
	}
	if r.Count > 1 && first.slot == number {
		t.Errorf("node ID = %d, want another free one", number)
	}
	if r := second.stop(t); r.failed != 0 {
		t.Errorf("%d errors of the new holder: %s", r.failed, r.failure)
	}
	second.close(t)
	first.recover(t, 1000)
	first.close(t)
	f.distinct(t, 3*256)
}

// tenSecondsBack sets the clock of a process back, by more than it tolerates and by less.
func runClockBack(t *testing.T, f *family) {
	p := f.start(t, role{First: 43, Count: 1, TTL: shortLease, Wait: true})
	if r := p.make(t, 10_000); r.failed != 0 {
		t.Errorf("generate IDs: %s", r.failure)
	}
	p.order(t, "step -10000", "stepped")
	for range 5 {
		if r := p.make(t, 1000); r.made != 0 ||
			!strings.Contains(r.failure, "the clock went back") {
			t.Errorf("clock 10 s back: %d IDs, error %q; want an error that the clock went back",
				r.made, r.failure)
		}
		pass(100 * time.Millisecond)
	}
	p.order(t, "step 10000", "stepped")
	p.recover(t, 10_000)
	p.order(t, "step -1000", "stepped") // it tolerates this
	if r := p.make(t, 10_000); r.failed != 0 {
		t.Errorf("generate IDs with a clock 1 s back: %s", r.failure)
	}
	p.order(t, "step -10000", "stepped")
	if r := p.make(t, 1000); r.made != 0 {
		t.Errorf("clock 11 s back: %d IDs, want 0", r.made)
	}
	p.close(t)
	last := f.start(t, role{First: 43, Count: 1, TTL: shortLease, Wait: true, Clock: -time.Second})
	last.recover(t, 10_000)
	last.close(t)
	f.distinct(t, 40_000)
}

// takenOver kills a process and starts another one with a different clock and the same
// node ID, and then a third. The second one runs until its clock reaches the times of the
// first one's IDs.
func runTakenOver(t *testing.T, f *family, number int, ahead ...time.Duration) {
	for i, clock := range append(ahead, 0) {
		p := f.start(t, role{First: number, Count: 1, TTL: shortLease, Clock: clock, Wait: true})
		p.recover(t, 1000) // if it is ahead of its clock, it may fail for a moment
		p.order(t, "run", "running")
		pass(300 * time.Millisecond)
		if i == 0 {
			p.kill()
			continue
		}
		pass(1500 * time.Millisecond)
		if r := p.stop(t); r.failed != 0 {
			t.Errorf("%d errors with a clock %s ahead: %s", r.failed, clock, r.failure)
		}
		p.close(t)
	}
	f.distinct(t, 3*1000)
}

// killed repeatedly kills all holders and starts others.
func runKilled(t *testing.T, f *family) {
	const numbers = 3
	var killed time.Time
	for round := range 4 {
		var all []*process
		for range numbers {
			all = append(all, f.launch(t,
				role{First: 52, Count: numbers, TTL: shortLease, Wait: true}))
		}
		for _, p := range all {
			p.ready(t)
			p.order(t, "run", "running")
		}
		if waited := time.Since(killed); round > 0 && waited > shortLease+maxDelay {
			t.Errorf("node IDs of killed processes are free after %s, want soon after the TTL of %s", waited, shortLease)
		}
		pass(200 * time.Millisecond)
		for _, p := range all {
			p.kill()
		}
		killed = time.Now()
	}
	f.distinct(t, 4*numbers*256)
}

// forgotten removes all records while holders run and other processes start.
func runForgotten(t *testing.T, f *family) {
	r := role{First: 48, Count: 4, TTL: shortLease, Wait: true}
	var holders []*process
	for range 2 {
		p := f.start(t, r)
		p.order(t, "run", "running")
		holders = append(holders, p)
	}
	r.Hold = true
	for range 2 {
		var starting []*process
		for range 3 {
			p := f.launch(t, r)
			if got := p.read(); got != "holding" {
				t.Fatalf("response = %q, want holding", got)
			}
			starting = append(starting, p)
		}
		f.h.Forget(t, xsnowflake.LeaseName)
		for _, p := range starting {
			p.send("go")
		}
		starting[0].ready(t)
		starting[0].order(t, "run", "running")
		pass(shortLease)
		if r := starting[0].stop(t); r.made == 0 {
			t.Errorf("a new process generated no IDs: %s", r.failure)
		}
		for _, p := range starting {
			p.kill()
		}
	}
	for _, p := range holders {
		p.stop(t)
		p.recover(t, 1000)
		p.close(t)
	}
	f.distinct(t, 4000)
}
