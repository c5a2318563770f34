package xsnowflake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// ErrClosed means that the node is closed.
var ErrClosed = errors.New("xsnowflake: the node is closed")

// errExhausted means that too many callers already wait for ids: another caller would
// wait longer than the clock tolerance of the node.
var errExhausted = errors.New("xsnowflake: too many callers are waiting for ids")

// ErrWaiting is the error of CheckHealth while the first ids wait for a possible former
// holder of the node ID, because the backend may have lost its record (see Node.Prepare).
// The error is temporary.
var ErrWaiting = errors.New("xsnowflake: the first ids wait for a possible former holder of the node ID")

var errGene = errors.New("xsnowflake: the gene is out of range")

// catchUp is how many milliseconds a saturated gene may be behind the clock. The time of
// its ids may be that much earlier than their generation.
const catchUp = 20

// releaseTimeout limits how long Close waits for the release of the slot.
const releaseTimeout = 5 * time.Second

// Node generates ids. It is safe for concurrent use. Close releases its node ID.
type Node struct {
	layout Layout
	clock  *clock

	sequences []sequence
	lastGene  Gene   // 0 in a layout without genes, which accepts all
	mask      uint64 // mask of the sequence number in a word
	ahead     int64  // how many milliseconds callers may wait

	tenure atomic.Pointer[tenure] // never nil; pending once the node is closed

	leases               *xlease.Leases // nil if the node ID is configured
	local                bool           // leases expire with the process
	ttl                  time.Duration
	firstSlot, slotCount int

	closeCtx    context.Context // canceled by Close with ErrClosed
	closeCancel context.CancelCauseFunc

	stateMu     sync.Mutex              // held while the tenure changes or closeCtx is canceled
	lastAttempt atomic.Pointer[attempt] // to lease the node ID

	background sync.WaitGroup // the attempt and the renewal
}

// Generate generates an id of the given gene, or of GeneDefault. A layout without genes
// ignores the gene.
//
// If the ids of this gene and millisecond are exhausted, Generate sleeps without holding
// a lock. It returns ErrClock, ErrNoSlot, xlease.ErrLost, ErrClosed, an error if the
// layout does not have the gene, or an error if too many callers wait.
func (n *Node) Generate(gene ...Gene) (SnowflakeID, error) {
	word, _, bits, err := n.reserve(cmp.Or(gene...), 1) // GeneDefault is the zero value
	if err != nil {
		return 0, err
	}
	return n.id(word, bits), nil
}

// MustGenerate is like Generate but panics on error.
func (n *Node) MustGenerate(gene ...Gene) SnowflakeID {
	id, err := n.Generate(gene...)
	if err != nil {
		panic(err)
	}
	return id
}

// NextN fills dst with ascending ids of one gene. It is cheaper than repeated calls of
// Generate and returns the same errors. After an error, the content of dst is undefined.
func (n *Node) NextN(dst []SnowflakeID, gene Gene) error {
	for len(dst) > 0 {
		word, count, bits, err := n.reserve(gene, uint64(len(dst)))
		if err != nil {
			return err
		}
		for i := range count {
			dst[i] = n.id(word+i, bits)
		}
		dst = dst[count:]
	}
	return nil
}

// reserve reserves up to want sequence numbers of one past or current millisecond. It
// returns them with the bits of gene and slot.
//
// The order of the steps matters. The tenure is read before the clock, so that a slot is
// never used with a time before its tenure. It is read again at the end, so that Close
// and the loss of a lease can record a time that no id reaches.
func (n *Node) reserve(g Gene, want uint64) (word, count, bits uint64, err error) {
	if g > n.lastGene && n.lastGene > 0 {
		return 0, 0, 0, fmt.Errorf("%w: %d (accepted: 0 to %d)", errGene, g, n.lastGene)
	}
	g &= n.lastGene // all bits of lastGene are ones
	for {
		t := n.tenure.Load()
		mono, now, err := n.clock.now()
		if err != nil {
			return 0, 0, 0, err
		}
		// never negative; unsigned division is faster
		ms := int64(uint64(now) / uint64(time.Millisecond))
		if word, count = n.sequences[g].tryReserve(n.word(ms), want, n.mask); count == 0 {
			word, count, err = n.reserveSlow(t, mono, ms, g, want)
		}
		if err == nil {
			at := int64(word >> n.layout.sequence.bits) // at most 42 bits
			if at >= t.limit.Load() || mono >= t.deadline.Load() {
				err = n.ensureUsable(context.Background(), t, at)
			}
			if err == nil && at > ms {
				err = n.wait(at)
			}
		}
		if n.tenure.Load() == t {
			return word, count, t.bits | uint64(g)<<(n.layout.gene.shift&63), err
		}
	}
}

// reserveSlow is reserve if the numbers of the millisecond ms are exhausted. If t allows
// no ids now, it reserves no numbers. Otherwise, failing callers that retry at once would
// use up the numbers of the following seconds.
func (n *Node) reserveSlow(t *tenure, mono, ms int64, g Gene, want uint64,
) (word, count uint64, err error) {
	if ms >= t.limit.Load() || mono >= t.deadline.Load() {
		if err := n.ensureUsable(context.Background(), t, ms); err != nil {
			return 0, 0, err
		}
	}
	word, count = n.sequences[g].reserve(n.word(ms), n.word(max(ms-catchUp, t.from)),
		n.word(ms+n.ahead), want, n.mask)
	if count == 0 {
		return 0, 0, errExhausted
	}
	return word, count, nil
}

// id combines a word (milliseconds and sequence) with the bits of gene and slot.
func (n *Node) id(word, bits uint64) SnowflakeID {
	l := &n.layout
	seq := word & n.mask
	ms := word >> l.sequence.bits // before the end of the layout
	return SnowflakeID(ms<<(l.time.shift&63) | bits | seq<<(l.sequence.shift&63))
}

// word returns the first word of a millisecond. ms must not be negative.
func (n *Node) word(ms int64) uint64 { return uint64(ms) << (n.layout.sequence.bits & 63) }

// ensureUsable makes the millisecond ms usable or returns an error. If the tenure has
// changed, the caller must start over.
func (n *Node) ensureUsable(ctx context.Context, t *tenure, ms int64) error {
	switch {
	case t.pending:
		return n.replace(ctx, t, false)
	case ms >= n.layout.end():
		return fmt.Errorf("%w: no time left in the layout %q", ErrClock, n.layout.Name)
	case n.local:
		return n.extend(ctx, t, ms)
	default:
		return fmt.Errorf("%w: not renewed in time", xlease.ErrLost)
	}
}

func (n *Node) wait(ms int64) error {
	bound := time.Duration(n.clock.maxBehind)
	for start := time.Now(); ; {
		_, now, err := n.clock.now()
		if err != nil {
			return err
		}
		left := time.Duration(ms*int64(time.Millisecond) - now)
		if left <= 0 {
			return nil
		}
		// The clock may be slewed or injected, so the limit applies to real time. It is
		// twice the bound because a slewed clock runs at half speed.
		waited := time.Since(start)
		if waited >= 2*bound {
			return fmt.Errorf("%w: no new millisecond in %s",
				ErrClock, waited.Round(time.Millisecond))
		}
		time.Sleep(min(left, 2*bound-waited)) //nolint:forbidigo // a timer would allocate
	}
}

// Layout returns the layout of the ids.
func (n *Node) Layout() Layout { return n.layout }

// Leased reports whether the node has a node ID, configured or leased.
func (n *Node) Leased() bool { return !n.tenure.Load().pending }

// DatacenterID returns the datacenter ID of the node.
func (n *Node) DatacenterID() int { return n.tenure.Load().slot >> n.layout.node.bits }

// NodeID returns the node ID in its datacenter. It changes only if a lease is lost.
func (n *Node) NodeID() int { return n.tenure.Load().slot & (n.layout.Nodes() - 1) }

// Source describes the origin of the node ID.
func (n *Node) Source() string {
	switch {
	case n.closed():
		return "closed node"
	case n.leases == nil:
		return "a configured node ID"
	default:
		return "a lease in " + n.leases.String()
	}
}

// HostLocal reports whether the node ID is leased within one host or container only.
func (n *Node) HostLocal() bool {
	return n.leases != nil && n.leases.Capabilities().Scope < driver.Cluster
}

// CheckHealth returns the error that Generate would return now, without generating an id.
// If an attempt to lease a node ID is running, CheckHealth waits for it, or until ctx is
// done. It returns ErrWaiting if the node has a node ID and its first ids wait.
func (n *Node) CheckHealth(ctx context.Context) error {
	if n.closed() {
		return ErrClosed
	}
	t := n.tenure.Load()
	mono, now, err := n.clock.now()
	if err != nil {
		return err
	}
	ms := now / int64(time.Millisecond)
	switch {
	case t.pending && n.lastAttempt.Load() == nil:
		return nil // no id was generated so far
	case t.pending:
		return n.replace(ctx, t, true)
	case ms >= t.limit.Load() || mono >= t.deadline.Load():
		return n.ensureUsable(ctx, t, ms)
	default:
		return nil
	}
}

func (n *Node) closed() bool { return n.closeCtx.Err() != nil }

// Close releases the node ID. Later calls of Generate fail. A second Close does nothing.
func (n *Node) Close() error {
	n.stateMu.Lock()
	done := n.closed()
	n.closeCancel(ErrClosed) // cancels attempts to get a node ID
	n.stateMu.Unlock()
	if done {
		return nil
	}
	n.background.Wait()
	err := n.release(n.tenure.Swap(&tenure{pending: true}))
	if n.local {
		err = errors.Join(err, n.leases.Close())
	}
	return err
}
