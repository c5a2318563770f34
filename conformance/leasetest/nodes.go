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
	// longLease is for checks whose processes use all processors.
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
		Source: h.Source,
		Server: h.Server,
		Tests:  len(nodeChecks) + 3,
	}
	if h.Source != "" {
		testreport.Record(t, run)
	}
	t.Run("SixteenProcesses", func(t *testing.T) {
		run.Backend = runSixteen(t, newProcessGroup(t, h)) + " ids"
	})
	t.Run("MoreProcessesThanNodeIDs", func(t *testing.T) { runTooMany(t, newProcessGroup(t, h)) })
	var all sync.WaitGroup // the checks mostly wait, so -parallel need not limit them
	for _, p := range nodeChecks {
		all.Go(func() { t.Run(p.name, func(t *testing.T) { p.run(t, newProcessGroup(t, h)) }) })
	}
	all.Wait()
	t.Run("ForgottenHolders", func(t *testing.T) {
		if h.Forget == nil {
			t.Skip("the backend never loses records")
		}
		runForgotten(t, newProcessGroup(t, h))
	})
}

// nodeChecks use different node IDs and run concurrently.
var nodeChecks = []struct {
	name string
	run  func(t *testing.T, g *processGroup)
}{
	{"StoppedAndContinued", func(t *testing.T, g *processGroup) {
		runStopped(t, g, childConfig{First: 40, Count: 1, TTL: shortLease})
	}},
	{"StoppedAndContinuedWithAnotherNodeID", func(t *testing.T, g *processGroup) {
		runStopped(t, g, childConfig{First: 41, Count: 2, TTL: shortLease})
	}},
	{"ClockTenSecondsBack", func(t *testing.T, g *processGroup) { runClockBack(t, g) }},
	{"TakenOverByASlowerClock", func(t *testing.T, g *processGroup) {
		runTakenOver(t, g, 44, 3*time.Second, -time.Second)
	}},
	{"TakenOverByAFasterClock", func(t *testing.T, g *processGroup) {
		runTakenOver(t, g, 45, -3*time.Second, 3*time.Second)
	}},
	{"KilledAndRestarted", func(t *testing.T, g *processGroup) { runKilled(t, g) }},
}

// runSixteen generates IDs in 16 concurrent processes.
func runSixteen(t *testing.T, g *processGroup) (backend string) {
	var all []*process
	for range 16 {
		all = append(all, g.launch(t, childConfig{TTL: longLease}))
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
		p.send("generate " + strconv.Itoa(g.h.Each))
	}
	for _, p := range all {
		if r := p.readResult(t); r.generated != g.h.Each || r.failed != 0 {
			t.Errorf("a process generated %d of %d IDs: %s", r.generated, g.h.Each, r.failure)
		}
	}
	t.Logf("%d IDs in %s", 16*g.h.Each, time.Since(start).Round(time.Millisecond))
	for _, p := range all {
		p.close(t)
	}
	g.wantDistinct(t, 16*g.h.Each)
	return all[0].backend
}

// runTooMany starts more processes than a datacenter has node IDs.
func runTooMany(t *testing.T, g *processGroup) {
	datacenter := 7
	r := childConfig{TTL: longLease, Datacenter: &datacenter, Wait: true}
	var all []*process
	for range 8 {
		all = append(all, g.launch(t, r))
	}
	for _, p := range all {
		p.ready(t)
		p.command(t, "run", "running")
	}
	r.Wait, r.TTL = false, shortLease
	err := g.launch(t, r).waitReady()
	if err == nil || !strings.Contains(err.Error(), "every node ID is held: all 8 are held in") {
		t.Errorf("ninth process = %v, want an error that every node ID is held", err)
	}
	for _, p := range all {
		if r := p.stop(t); r.failed != 0 {
			t.Errorf("%d errors of a holder: %s", r.failed, r.failure)
		}
	}
	all[3].close(t)
	ninth := g.start(t, r)
	if ninth.slot != all[3].slot {
		t.Errorf("node ID of the ninth process = %d, want the released %d",
			ninth.slot, all[3].slot)
	}
	ninth.generate(t, 1000)
	for _, p := range append(all[:3], append(all[4:], ninth)...) {
		p.close(t)
	}
	g.wantDistinct(t, 8*256)
}

// runStopped suspends a process until its lease expires and another process holds its
// node ID, and then resumes it.
func runStopped(t *testing.T, g *processGroup, r childConfig) {
	r.Wait = true
	first := g.start(t, r)
	first.command(t, "run", "running")
	sleep(300 * time.Millisecond)
	if err := suspend(first.cmd.Process); err != nil {
		t.Fatal(err)
	}
	second := g.start(t, childConfig{First: first.slot, Count: 1, TTL: r.TTL, Wait: true})
	second.command(t, "run", "running")
	nodeID := first.slot
	sleep(300 * time.Millisecond)
	if err := resume(first.cmd.Process); err != nil {
		t.Fatal(err)
	}
	sleep(2 * time.Second) // the process runs again
	got := first.stop(t)
	if got.failed == 0 && first.slot == nodeID {
		t.Error("the suspended process did not detect the lost lease")
	}
	if got.failed > 0 && !strings.Contains(got.failure, xlease.ErrLost.Error()) {
		t.Errorf("error = %q, want xlease.ErrLost", got.failure)
	}
	if r.Count > 1 && first.slot == nodeID {
		t.Errorf("node ID = %d, want another free one", nodeID)
	}
	if r := second.stop(t); r.failed != 0 {
		t.Errorf("%d errors of the new holder: %s", r.failed, r.failure)
	}
	second.close(t)
	first.generateUntilOK(t, 1000)
	first.close(t)
	g.wantDistinct(t, 3*256)
}

// runClockBack sets the clock of a process back, by more than it tolerates and by less.
func runClockBack(t *testing.T, g *processGroup) {
	c := childConfig{First: 43, Count: 1, TTL: shortLease, Wait: true}
	p := g.start(t, c)
	if r := p.generate(t, 10_000); r.failed != 0 {
		t.Errorf("generate IDs: %s", r.failure)
	}
	p.command(t, "clock -10000", "clock set")
	for range 5 {
		if r := p.generate(t, 1000); r.generated != 0 ||
			!strings.Contains(r.failure, "the clock went back") {
			t.Errorf("clock 10 s back: %d IDs, error %q; want an error that the clock went back",
				r.generated, r.failure)
		}
		sleep(100 * time.Millisecond)
	}
	p.command(t, "clock 10000", "clock set")
	p.generateUntilOK(t, 10_000)
	p.command(t, "clock -1000", "clock set") // within the tolerance
	if r := p.generate(t, 10_000); r.failed != 0 {
		t.Errorf("generate IDs with a clock 1 s back: %s", r.failure)
	}
	p.command(t, "clock -10000", "clock set")
	if r := p.generate(t, 1000); r.generated != 0 {
		t.Errorf("clock 11 s back: %d IDs, want 0", r.generated)
	}
	p.close(t)
	c.Clock = -time.Second
	last := g.start(t, c)
	last.generateUntilOK(t, 10_000)
	last.close(t)
	g.wantDistinct(t, 40_000)
}

// runTakenOver kills a process and starts another one with a different clock and the same
// node ID, and then a third. The second one runs until its clock reaches the times of the
// first one's IDs.
func runTakenOver(t *testing.T, g *processGroup, nodeID int, offsets ...time.Duration) {
	for i, clock := range append(offsets, 0) {
		p := g.start(t, childConfig{
			First: nodeID, Count: 1, TTL: shortLease, Clock: clock, Wait: true,
		})
		p.generateUntilOK(t, 1000) // fails at first if the previous clock was ahead
		p.command(t, "run", "running")
		sleep(300 * time.Millisecond)
		if i == 0 {
			p.kill()
			continue
		}
		sleep(1500 * time.Millisecond)
		if r := p.stop(t); r.failed != 0 {
			t.Errorf("%d errors with a clock %s ahead: %s", r.failed, clock, r.failure)
		}
		p.close(t)
	}
	g.wantDistinct(t, 3*1000)
}

// runKilled repeatedly kills all holders and starts others.
func runKilled(t *testing.T, g *processGroup) {
	const nodeIDCount = 3
	var killed time.Time
	for round := range 4 {
		var all []*process
		for range nodeIDCount {
			all = append(all, g.launch(t,
				childConfig{First: 52, Count: nodeIDCount, TTL: shortLease, Wait: true}))
		}
		for _, p := range all {
			p.ready(t)
			p.command(t, "run", "running")
		}
		if waited := time.Since(killed); round > 0 && waited > shortLease+maxDelay {
			t.Errorf("node IDs of killed processes were free after %s, want at most %s",
				waited, shortLease+maxDelay)
		}
		sleep(200 * time.Millisecond)
		for _, p := range all {
			p.kill()
		}
		killed = time.Now()
	}
	g.wantDistinct(t, 4*nodeIDCount*256)
}

// runForgotten removes all records while holders run and other processes start.
func runForgotten(t *testing.T, g *processGroup) {
	r := childConfig{First: 48, Count: 4, TTL: shortLease, Wait: true}
	var holders []*process
	for range 2 {
		p := g.start(t, r)
		p.command(t, "run", "running")
		holders = append(holders, p)
	}
	r.Hold = true
	for range 2 {
		var starting []*process
		for range 3 {
			p := g.launch(t, r)
			if got := p.read(); got != "holding" {
				t.Fatalf("response = %q, want holding", got)
			}
			starting = append(starting, p)
		}
		g.h.Forget(t, xsnowflake.LeaseName)
		for _, p := range starting {
			p.send("go")
		}
		starting[0].ready(t)
		starting[0].command(t, "run", "running")
		sleep(shortLease)
		if r := starting[0].stop(t); r.generated == 0 {
			t.Errorf("a new process generated no IDs: %s", r.failure)
		}
		for _, p := range starting {
			p.kill()
		}
	}
	for _, p := range holders {
		p.stop(t)
		p.generateUntilOK(t, 1000)
		p.close(t)
	}
	g.wantDistinct(t, 4000)
}
