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

// ErrClosed means that the node was closed.
var ErrClosed = errors.New("xsnowflake: the node is closed")

// errExhausted means that so many callers wait for ids already that another would have to
// wait for longer than the node rides out a clock that went back.
var errExhausted = errors.New("xsnowflake: too many callers wait for ids")

// ErrWaiting is the error of CheckHealth while the first ids of a node wait because a
// former holder of its number may have been forgotten (see Node.Prepare). It passes by
// itself.
var ErrWaiting = errors.New("xsnowflake: the first ids wait for the times that a former holder may have used")

// errGene means that a gene does not fit the node's layout.
var errGene = errors.New("xsnowflake: the gene is out of range")

// catchUp is how many milliseconds a saturated gene may be behind the clock. So much
// earlier than its making may the time of such an id be.
const catchUp = 20

// releaseTimeout bounds how long Close waits for the slot to be given back.
const releaseTimeout = 5 * time.Second

// Node makes ids. Its methods may be called concurrently. Close it to give its number
// back.
type Node struct {
	layout Layout
	clock  *clock

	sequences []sequence
	lastGene  Gene   // 0 in a layout without genes, which accepts all
	mask      uint64 // of the sequence in a word
	ahead     int64  // for how many milliseconds callers may wait

	tenure atomic.Pointer[tenure] // never nil; pending for ever once the node is closed

	leases               *xlease.Leases // nil if the node ID is given
	local                bool           // the node has made leases, which end with the process
	ttl                  time.Duration
	firstSlot, slotCount int

	life context.Context         // ends with Close, and ErrClosed
	kill context.CancelCauseFunc // of life

	change sync.Mutex              // held while the tenure changes, and life ends
	last   atomic.Pointer[attempt] // to lease the node ID

	background sync.WaitGroup // that attempt, and the renewal
}

// Generate makes an id of the given gene, or of GeneDefault. In a layout without genes it
// is ignored.
//
// It waits where the gene's numbers of this millisecond are used up, asleep and without a
// lock. The errors are ErrClock, ErrNoSlot, xlease.ErrLost and ErrClosed, one for a gene
// that the layout does not have, and one for too many callers that wait.
func (n *Node) Generate(gene ...Gene) (SnowflakeID, error) {
	word, _, bits, err := n.reserve(cmp.Or(gene...), 1) // GeneDefault is the zero value
	if err != nil {
		return 0, err
	}
	return n.id(word, bits), nil
}

// MustGenerate is Generate for callers who cannot go on without an id: it panics with the
// error.
func (n *Node) MustGenerate(gene ...Gene) SnowflakeID {
	id, err := n.Generate(gene...)
	if err != nil {
		panic(err)
	}
	return id
}

// NextN fills dst with ids of one gene in ascending order. It is cheaper than as many
// calls of Generate, and its errors are the same; after one, what dst holds is of no use.
func (n *Node) NextN(dst []SnowflakeID, gene Gene) error {
	for len(dst) > 0 {
		word, got, bits, err := n.reserve(gene, uint64(len(dst)))
		if err != nil {
			return err
		}
		for i := range got {
			dst[i] = n.id(word+i, bits)
		}
		dst = dst[got:]
	}
	return nil
}

// reserve takes up to want numbers of one millisecond that has come, and the placed gene
// and slot to use them with.
//
// The order of the steps matters. The tenure is read before the clock, so that a slot is
// never used with a time from before its tenure; and again at the end, so that Close and
// the loss of a lease can record a time that no id reaches.
func (n *Node) reserve(g Gene, want uint64) (word, got, bits uint64, err error) {
	if g > n.lastGene && n.lastGene > 0 {
		return 0, 0, 0, fmt.Errorf("%w: %d (accepted: 0 to %d)", errGene, g, n.lastGene)
	}
	g &= n.lastGene // its bits are all ones
	for {
		t := n.tenure.Load()
		mono, now, err := n.clock.now()
		if err != nil {
			return 0, 0, 0, err
		}
		ms := int64(uint64(now) / uint64(time.Millisecond)) // never negative; divides faster
		if word, got = n.sequences[g].tryTake(n.word(ms), want, n.mask); got == 0 {
			word, got = n.sequences[g].take(n.word(ms), n.word(max(ms-catchUp, t.from)),
				n.word(ms+n.ahead), want, n.mask)
		}
		if got == 0 {
			return 0, 0, 0, errExhausted
		}
		at := int64(word >> n.layout.sequence.bits) // at most 42 bits
		if at >= t.limit.Load() || mono >= t.deadline.Load() {
			err = n.prolong(context.Background(), t, at)
		}
		if err == nil && at > ms {
			err = n.wait(at)
		}
		if n.tenure.Load() == t {
			return word, got, t.bits | uint64(g)<<(n.layout.gene.shift&63), err
		}
	}
}

// id joins a word (milliseconds and sequence) with the placed gene and slot.
func (n *Node) id(word, bits uint64) SnowflakeID {
	l := &n.layout
	seq := word & n.mask
	ms := word >> l.sequence.bits // before the layout ends
	return SnowflakeID(ms<<(l.time.shift&63) | bits | seq<<(l.sequence.shift&63))
}

// word is the first word of a millisecond.
// never negative
func (n *Node) word(ms int64) uint64 { return uint64(ms) << (n.layout.sequence.bits & 63) }

// prolong makes the millisecond ms usable, or says why it is not. If the tenure has
// changed, the caller starts over.
func (n *Node) prolong(ctx context.Context, t *tenure, ms int64) error {
	switch {
	case t.pending:
		return n.replace(ctx, t, false)
	case ms >= n.layout.end():
		return fmt.Errorf("%w: the layout %q ends", ErrClock, n.layout.Name)
	case n.local:
		return n.extend(ctx, t, ms)
	default:
		return fmt.Errorf("%w: it was not renewed in time", xlease.ErrLost)
	}
}

// wait sleeps until the clock has reached the millisecond ms.
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
		// The clock may be slewed or injected, so the bound is one of real time; twice,
		// because a slewed clock runs at half speed.
		waited := time.Since(start)
		if waited >= 2*bound {
			return fmt.Errorf("%w: no new millisecond in %s",
				ErrClock, waited.Round(time.Millisecond))
		}
		time.Sleep(min(left, 2*bound-waited)) //nolint:forbidigo // the clock itself is awaited, and this does not allocate
	}
}

// Layout returns where the parts of the node's ids are.
func (n *Node) Layout() Layout { return n.layout }

// Leased reports whether the node has its number, given or leased.
func (n *Node) Leased() bool { return !n.tenure.Load().pending }

// DatacenterID returns the number of the node's datacenter.
func (n *Node) DatacenterID() int { return n.tenure.Load().slot >> n.layout.node.bits }

// NodeID returns the node's ID in its datacenter. It changes only if a lease was lost.
func (n *Node) NodeID() int { return n.tenure.Load().slot & (n.layout.Nodes() - 1) }

// Source says for people where the node ID is from.
func (n *Node) Source() string {
	switch {
	case n.closed():
		return "nowhere: the node is closed"
	case n.leases == nil:
		return "a given node ID"
	default:
		return "a lease in " + n.leases.String()
	}
}

// HostLocal reports whether the node ID is leased where only the processes of one host or
// container see it.
func (n *Node) HostLocal() bool {
	return n.leases != nil && n.leases.Capabilities().Scope < driver.Cluster
}

// CheckHealth reports why the node could not make an id now, without making one. The
// error is ErrWaiting if the node has its number, and only has to wait.
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
	case t.pending && n.last.Load() == nil:
		return nil // nothing has needed the node ID so far
	case t.pending:
		return n.replace(ctx, t, true)
	case ms >= t.limit.Load() || mono >= t.deadline.Load():
		return n.prolong(ctx, t, ms)
	default:
		return nil
	}
}

func (n *Node) closed() bool { return n.life.Err() != nil }

// Close releases the node ID. Ids are refused from then on; a second Close does nothing.
func (n *Node) Close() error {
	n.change.Lock()
	done := n.closed()
	n.kill(ErrClosed) // attempts to get a node ID end
	n.change.Unlock()
	if done {
		return nil
	}
	n.background.Wait()
	err := n.end(n.tenure.Swap(&tenure{pending: true}))
	if n.local {
		err = errors.Join(err, n.leases.Close())
	}
	return err
}
