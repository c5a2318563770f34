package xcache

import (
	"context"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Counters are Metrics that count, for a page of numbers or for Prometheus: hits, misses, loads, errors and latencies by
// the name of the view. They take no lock and, after the first event of a view, no memory.
type Counters struct {
	views atomic.Pointer[map[string]*viewCounters] // never changed, but replaced
	add   sync.Mutex                               // held by who replaces it
}

// NewCounters returns counters at zero, for WithMetrics.
func NewCounters() *Counters {
	c := &Counters{}
	c.views.Store(&map[string]*viewCounters{})
	return c
}

// ViewStats are the numbers of one view since the start.
type ViewStats struct {
	// View is the name that WithName gave; "" for views without one, and for Manager.Keys.
	View string
	// Hits and Misses are of reads of values: OpGet and OpRead. NearHits are those of Hits that the near cache had.
	Hits, NearHits, Misses uint64
	// Loads are runs of a loader, also those that found nothing; LoadErrors are those that failed.
	Loads, LoadErrors uint64
	// Errors are the other operations that failed.
	Errors uint64
	// Ops are the operations that occurred, in the order of their constants.
	Ops []OpStats
}

// OpStats are the numbers of one operation of a view.
type OpStats struct {
	Op Op
	// Outcomes counts by outcome; one that did not occur is missing.
	Outcomes map[Outcome]uint64
	// Count is how many there were, and Seconds how long they took together.
	Count   uint64
	Seconds float64
	// Buckets counts, for each of LatencyBuckets, the operations that took at most so long.
	Buckets []uint64
}

// latencyBounds are the upper bounds of the buckets: from what a store in the process takes to the usual timeouts.
var latencyBounds = [...]time.Duration{
	time.Microsecond, 10 * time.Microsecond, 50 * time.Microsecond,
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond,
}

// LatencyBuckets returns the upper bounds of OpStats.Buckets in seconds. What took longer is in Count only.
func LatencyBuckets() []float64 {
	out := make([]float64, len(latencyBounds))
	for i, d := range latencyBounds {
		out[i] = d.Seconds()
	}
	return out
}

var (
	countedOps      = [...]Op{OpGet, OpSet, OpExists, OpDelete, OpTTL, OpRead, OpRemove, OpPop, OpLoad, OpScan, OpClear}
	countedOutcomes = [...]Outcome{Hit, Miss, Done, Skipped, Failed}
)

// viewCounters are indexed by countedOps.
type viewCounters [len(countedOps)]opCounters

type opCounters struct {
	outcomes [len(countedOutcomes)]atomic.Uint64
	near     atomic.Uint64
	nanos    atomic.Uint64
	buckets  [len(latencyBounds)]atomic.Uint64 // each has only what the one before has not
}

// Observe implements Metrics.
func (c *Counters) Observe(_ context.Context, e Event) {
	op := slices.Index(countedOps[:], e.Op)
	outcome := slices.Index(countedOutcomes[:], e.Outcome)
	if op < 0 || outcome < 0 {
		return // none of this package's
	}
	n := &c.view(e.View)[op]
	n.outcomes[outcome].Add(1)
	if e.Near {
		n.near.Add(1)
	}
	n.nanos.Add(uint64(max(e.Latency, 0)))
	if i := sort.Search(len(latencyBounds), func(i int) bool { return e.Latency <= latencyBounds[i] }); i < len(latencyBounds) {
		n.buckets[i].Add(1)
	}
}

// view returns the counters of a view, which the first event makes.
func (c *Counters) view(name string) *viewCounters {
	if v, ok := (*c.views.Load())[name]; ok {
		return v
	}
	c.add.Lock()
	defer c.add.Unlock()
	old := *c.views.Load()
	if v, ok := old[name]; ok {
		return v
	}
	views := maps.Clone(old)
	v := &viewCounters{}
	views[name] = v
	c.views.Store(&views)
	return v
}

// Snapshot returns the numbers of all views so far, sorted by name. Events that are counted meanwhile may be in one
// number and not yet in another.
func (c *Counters) Snapshot() []ViewStats {
	views := *c.views.Load()
	out := make([]ViewStats, 0, len(views))
	for _, name := range slices.Sorted(maps.Keys(views)) {
		out = append(out, views[name].stats(name))
	}
	return out
}

func (v *viewCounters) stats(name string) ViewStats {
	s := ViewStats{View: name}
	for i := range v {
		op := v[i].stats(countedOps[i])
		if op.Count == 0 {
			continue
		}
		s.Ops = append(s.Ops, op)
		failed := op.Outcomes[Failed]
		switch op.Op {
		case OpLoad:
			s.Loads, s.LoadErrors = op.Count, failed
			continue
		case OpGet, OpRead:
			s.Hits += op.Outcomes[Hit]
			s.Misses += op.Outcomes[Miss]
			s.NearHits += v[i].near.Load()
		default:
		}
		s.Errors += failed
	}
	return s
}

func (n *opCounters) stats(op Op) OpStats {
	s := OpStats{Op: op, Outcomes: map[Outcome]uint64{}, Buckets: make([]uint64, len(n.buckets))}
	var sum uint64
	for i := range n.buckets { // before the total, which is then no smaller
		sum += n.buckets[i].Load()
		s.Buckets[i] = sum
	}
	for i := range n.outcomes {
		if count := n.outcomes[i].Load(); count > 0 {
			s.Outcomes[countedOutcomes[i]] = count
			s.Count += count
		}
	}
	s.Seconds = time.Duration(n.nanos.Load()).Seconds() // it was the sum of durations
	return s
}
