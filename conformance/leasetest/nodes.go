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

// NodesHarness supplies a backend that processes share.
type NodesHarness struct {
	// Address is what the function given to Child opens the backend by.
	Address string

	// Forget makes the backend lose all it knows of a name; nil where it never does.
	Forget func(tb testing.TB, name string)

	// Source and Server are as in Harness.
	Source, Server string

	// Each is how many ids each of sixteen processes makes; 0 is a million.
	Each int
}

const (
	// shortLease is the least that SNOWFLAKE_LEASE_TTL accepts.
	shortLease = 3 * time.Second
	// longLease is for processes that keep all processors busy, and lose nothing by it.
	longLease = 10 * time.Second
)

// Nodes proves, on real processes on this host that share nothing but the backend and
// have no number in their configuration, that no two ids are equal. It takes about half a
// minute.
//
// The numbers are slots of xsnowflake.LeaseName, of which nobody else may hold many.
func Nodes(t *testing.T, h NodesHarness) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT PROVEN on Windows, where processes cannot be stopped and continued")
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
		run.Backend = sixteen(t, newFamily(t, h)) + " ids"
	})
	t.Run("MoreProcessesThanNumbers", func(t *testing.T) { tooMany(t, newFamily(t, h)) })
	var all sync.WaitGroup // they wait most of the time, so -parallel is not for them
	for _, p := range proofs {
		all.Go(func() { t.Run(p.name, func(t *testing.T) { p.run(t, newFamily(t, h)) }) })
	}
	all.Wait()
	t.Run("ForgottenHolders", func(t *testing.T) {
		if h.Forget == nil {
			t.Skip("this backend never forgets")
		}
		forgotten(t, newFamily(t, h))
	})
}

// proofs use numbers of their own each, and run at the same time.
var proofs = []struct {
	name string
	run  func(t *testing.T, f *family)
}{
	{"StoppedAndContinued", func(t *testing.T, f *family) {
		stopped(t, f, role{First: 40, Count: 1, TTL: shortLease})
	}},
	{"StoppedAndContinuedWithAnotherNumber", func(t *testing.T, f *family) {
		stopped(t, f, role{First: 41, Count: 2, TTL: shortLease})
	}},
	{"ClockTenSecondsBack", func(t *testing.T, f *family) { tenSecondsBack(t, f) }},
	{
		"TakenOverByASlowerClock",
		func(t *testing.T, f *family) { takenOver(t, f, 44, 3*time.Second, -time.Second) },
	},
	{
		"TakenOverByAFasterClock",
		func(t *testing.T, f *family) { takenOver(t, f, 45, -3*time.Second, 3*time.Second) },
	},
	{"KilledAndStartedAgain", func(t *testing.T, f *family) { killed(t, f) }},
}

// sixteen processes make a million ids each at the same time.
func sixteen(t *testing.T, f *family) (backend string) {
	var all []*process
	for range 16 {
		all = append(all, f.begin(t, role{TTL: longLease}))
	}
	taken := map[int]bool{}
	for _, p := range all {
		p.ready(t)
		if taken[p.slot] {
			t.Errorf("the number %d is used twice", p.slot)
		}
		taken[p.slot] = true
	}
	begin := time.Now()
	for _, p := range all {
		p.tell("make " + strconv.Itoa(f.h.Each))
	}
	for _, p := range all {
		if r := p.made(t); r.made != f.h.Each || r.failed != 0 {
			t.Errorf("a process made %d of %d ids: %s", r.made, f.h.Each, r.failure)
		}
	}
	t.Logf("%d ids in %s", 16*f.h.Each, time.Since(begin).Round(time.Millisecond))
	for _, p := range all {
		p.close(t)
	}
	f.distinct(t, 16*f.h.Each)
	return all[0].backend
}

// tooMany starts more processes than a datacenter has numbers.
func tooMany(t *testing.T, f *family) {
	datacenter := 7
	r := role{TTL: longLease, Datacenter: &datacenter, Wait: true}
	var all []*process
	for range 8 {
		all = append(all, f.begin(t, r))
	}
	for _, p := range all {
		p.ready(t)
		p.order(t, "run", "running")
	}
	r.Wait, r.TTL = false, shortLease
	err := f.begin(t, r).born()
	if err == nil || !strings.Contains(err.Error(), "every node ID is held: all 8 are held in") {
		t.Errorf("the ninth process of eight says %v, want that every number is taken", err)
	}
	for _, p := range all {
		if r := p.stop(t); r.failed != 0 {
			t.Errorf("%d failures of a holder: %s", r.failed, r.failure)
		}
	}
	all[3].close(t)
	ninth := f.start(t, r)
	if ninth.slot != all[3].slot {
		t.Errorf("the ninth process has the number %d, want %d, which was given back",
			ninth.slot, all[3].slot)
	}
	ninth.make(t, 1000)
	for _, p := range append(all[:3], append(all[4:], ninth)...) {
		p.close(t)
	}
	f.distinct(t, 8*256)
}

// stopped stops a process past its lease, lets another take its number, and continues it.
func stopped(t *testing.T, f *family, r role) {
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
	pass(2 * time.Second) // it goes on with what it was at
	got := first.stop(t)
	if got.failed == 0 && first.slot == number {
		t.Error("the process that was stopped did not notice")
	}
	if got.failed > 0 && !strings.Contains(got.failure, xlease.ErrLost.Error()) {
		t.Errorf("it says %q, want that the lease is lost", got.failure)
	}
	if r.Count > 1 && first.slot == number {
		t.Errorf("its number is still %d, want another one, which is free", number)
	}
	if r := second.stop(t); r.failed != 0 {
		t.Errorf("%d failures of the new holder: %s", r.failed, r.failure)
	}
	second.close(t)
	first.recover(t, 1000)
	first.close(t)
	f.distinct(t, 3*256)
}

// tenSecondsBack sets the clock of a process back, by more than it rides out and by less.
func tenSecondsBack(t *testing.T, f *family) {
	p := f.start(t, role{First: 43, Count: 1, TTL: shortLease, Wait: true})
	if r := p.make(t, 10_000); r.failed != 0 {
		t.Errorf("making ids: %s", r.failure)
	}
	p.order(t, "step -10000", "stepped")
	for range 5 {
		if r := p.make(t, 1000); r.made != 0 ||
			!strings.Contains(r.failure, "the clock went back") {
			t.Errorf("with a clock 10 s back it made %d ids and says %q, want that the clock went back", r.made, r.failure)
		}
		pass(100 * time.Millisecond)
	}
	p.order(t, "step 10000", "stepped")
	p.recover(t, 10_000)
	p.order(t, "step -1000", "stepped") // which it rides out
	if r := p.make(t, 10_000); r.failed != 0 {
		t.Errorf("making ids with a clock 1 s back: %s", r.failure)
	}
	p.order(t, "step -10000", "stepped")
	if r := p.make(t, 1000); r.made != 0 {
		t.Errorf("with a clock 11 s back it made %d ids", r.made)
	}
	p.close(t)
	last := f.start(t, role{First: 43, Count: 1, TTL: shortLease, Wait: true, Clock: -time.Second})
	last.recover(t, 10_000)
	last.close(t)
	f.distinct(t, 40_000)
}

// takenOver kills a process, and starts one with another clock that gets its number; and
// then another. The second one runs for as long as it takes its clock to show the times
// of the first one's ids again.
func takenOver(t *testing.T, f *family, number int, ahead ...time.Duration) {
	for i, clock := range append(ahead, 0) {
		p := f.start(t, role{First: number, Count: 1, TTL: shortLease, Clock: clock, Wait: true})
		p.recover(t, 1000) // where it is ahead of its clock, it may lose a moment
		p.order(t, "run", "running")
		pass(300 * time.Millisecond)
		if i == 0 {
			p.kill()
			continue
		}
		pass(1500 * time.Millisecond)
		if r := p.stop(t); r.failed != 0 {
			t.Errorf("%d failures with a clock %s ahead: %s", r.failed, clock, r.failure)
		}
		p.close(t)
	}
	f.distinct(t, 3*1000)
}

// killed kills all holders and starts others, again and again.
func killed(t *testing.T, f *family) {
	const numbers = 3
	var killed time.Time
	for round := range 4 {
		var all []*process
		for range numbers {
			all = append(all, f.begin(t,
				role{First: 52, Count: numbers, TTL: shortLease, Wait: true}))
		}
		for _, p := range all {
			p.ready(t)
			p.order(t, "run", "running")
		}
		if waited := time.Since(killed); round > 0 && waited > shortLease+patience {
			t.Errorf("the numbers of killed processes are free after %s, want soon after the TTL of %s", waited, shortLease)
		}
		pass(200 * time.Millisecond)
		for _, p := range all {
			p.kill()
		}
		killed = time.Now()
	}
	f.distinct(t, 4*numbers*256)
}

// forgotten makes the backend forget everything while holders run and newcomers start.
func forgotten(t *testing.T, f *family) {
	r := role{First: 48, Count: 4, TTL: shortLease, Wait: true}
	var holders []*process
	for range 2 {
		p := f.start(t, r)
		p.order(t, "run", "running")
		holders = append(holders, p)
	}
	r.Hold = true
	for range 2 {
		var newcomers []*process
		for range 3 {
			p := f.begin(t, r)
			if got := p.read(); got != "holding" {
				t.Fatalf("a process says %q, want that it holds", got)
			}
			newcomers = append(newcomers, p)
		}
		f.h.Forget(t, xsnowflake.LeaseName)
		for _, p := range newcomers {
			p.tell("go")
		}
		newcomers[0].ready(t)
		newcomers[0].order(t, "run", "running")
		pass(shortLease)
		if r := newcomers[0].stop(t); r.made == 0 {
			t.Errorf("a newcomer made no ids: %s", r.failure)
		}
		for _, p := range newcomers {
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
