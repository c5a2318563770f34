package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// DefaultMaxBackward is how far the clock may go back before a node refuses to make ids.
const DefaultMaxBackward = 5 * time.Second

// The bounds of WithMaxBackward. Readings of the two clocks differ by microseconds on a busy machine.
const (
	minMaxBackward = 10 * time.Millisecond
	maxMaxBackward = time.Hour
)

// Option configures NewNode.
type Option func(*config)

type config struct {
	layout           Layout
	datacenter, node number
	clock            func() time.Time
	maxBackward      time.Duration
	leaser           Leaser
	lazy             bool
}

// number is one that may be absent.
type number struct {
	value int
	set   bool
}

// WithLayout chooses where the parts of an id are; LayoutDefault by default.
func WithLayout(l Layout) Option { return func(c *config) { c.layout = l } }

// WithDatacenterID sets the number of the datacenter. Without WithNodeID, a node number of this datacenter
// is leased.
func WithDatacenterID(id int) Option {
	return func(c *config) { c.datacenter = number{value: id, set: true} }
}

// WithNodeID sets the number of the node, which nobody else in its datacenter may have. The datacenter is 0
// unless WithDatacenterID says otherwise.
func WithNodeID(id int) Option { return func(c *config) { c.node = number{value: id, set: true} } }

// WithClock replaces the system's clock, for tests. Where its times have no monotonic reading, a step of
// it is a step of both clocks. A clock that stands still has one millisecond's worth of ids for each gene;
// the next one waits, in real time, until the clock moves or twice the bound of WithMaxBackward is over.
func WithClock(clock func() time.Time) Option { return func(c *config) { c.clock = clock } }

// WithMaxBackward sets how far the clock may go back before a node refuses to make ids, and half of the
// longest time that a caller waits for one. It is DefaultMaxBackward by default, 10 ms to 1 h.
func WithMaxBackward(d time.Duration) Option { return func(c *config) { c.maxBackward = d } }

// WithLeaser sets who hands out the node's number where WithNodeID does not give it; by default it is
// FileLeaser in its default folder.
func WithLeaser(l Leaser) Option { return func(c *config) { c.leaser = l } }

// WithLeaseOnFirstUse leases the node's number with the first id, so that a process that makes none takes
// none. Callers that ask meanwhile share one attempt, which goes on if one of them stops waiting. Until
// then DatacenterID and NodeID are 0. A number that was given is not leased.
func WithLeaseOnFirstUse() Option { return func(c *config) { c.lazy = true } }

// NewNode returns a node with the number that was given, or else one that it leases.
//
// Every wrong option is reported at once. Without a number the errors of the Leaser come back too; one
// that expires is renewed by a goroutine that Close ends.
func NewNode(opts ...Option) (*Node, error) { return NewNodeContext(context.Background(), opts...) }

// FromEnv returns a node with the layout that SNOWFLAKE_LAYOUT names and the number in
// SNOWFLAKE_DATACENTER_ID and SNOWFLAKE_NODE_ID, or one leased through a file in SNOWFLAKE_LEASE_DIR where
// they are not set. See WithDatacenterID and WithNodeID for
// the case that only one is. The environment wins over opts, except over WithLeaser, which replaces the
// lease through a file. ctx bounds how long taking the lease may last.
func FromEnv(ctx context.Context, opts ...Option) (*Node, error) {
	dir, _ := xenv.GetEnv(xenv.SnowflakeLeaseDir)
	all := append([]Option{WithLeaser(FileLeaser(dir))}, opts...)
	var problems []error
	if name, ok := xenv.GetEnv(xenv.SnowflakeLayout); ok {
		l, err := LayoutNamed(name)
		all, problems = append(all, WithLayout(l)), append(problems, err)
	}
	for _, v := range []struct {
		key  xenv.EnvKey
		with func(int) Option
	}{{xenv.SnowflakeDatacenterID, WithDatacenterID}, {xenv.SnowflakeNodeID, WithNodeID}} {
		text, ok := xenv.GetEnv(v.key)
		if !ok {
			continue
		}
		id, err := strconv.Atoi(text)
		if err != nil {
			problems = append(problems, xenv.Problem(v.key, text, "is not an integer", xenv.Lookup(v.key).Accepted()))
			continue
		}
		all = append(all, v.with(id))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("xsnowflake: %w", err)
	}
	return NewNodeContext(ctx, all...)
}

// NewNodeContext is NewNode, with a context that bounds how long taking a lease, and the wait before it can be used, may
// last. The node does not end with ctx.
func NewNodeContext(ctx context.Context, opts ...Option) (*Node, error) {
	c := config{layout: layoutDefault, maxBackward: DefaultMaxBackward}
	for _, o := range opts {
		o(&c)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	registerMapper()
	p := c.layout.packing()
	n := &Node{
		layout: c.layout, pack: p,
		clock: newClock(c.clock, time.UnixMilli(c.layout.Epoch), time.Duration(p.end)*time.Millisecond, c.maxBackward),
		mask:  1<<p.seqBits - 1, ahead: c.maxBackward.Milliseconds(),
		recordAhead: min(recordAhead, c.maxBackward).Milliseconds(),
		sequences:   make([]sequence, p.genes()),
	}
	n.life, n.kill = context.WithCancel(context.WithoutCancel(ctx))
	t, err := n.firstTenure(ctx, c)
	if err != nil {
		n.kill()
		return nil, err
	}
	n.install(t) //nolint:contextcheck // a renewal ends with the node
	return n, nil
}

// firstTenure uses the numbers of c, or leases one.
func (n *Node) firstTenure(ctx context.Context, c config) (*tenure, error) {
	if c.node.set {
		if _, _, err := n.clock.now(); err != nil {
			return nil, err
		}
		return n.newTenure(c.datacenter.value<<n.pack.nodeBits | c.node.value), nil
	}
	n.slotCount = n.pack.slots()
	if c.datacenter.set {
		n.slotCount = 1 << n.pack.nodeBits
		n.firstSlot = c.datacenter.value << n.pack.nodeBits
	}
	if c.leaser == nil {
		c.leaser = FileLeaser("")
	}
	if c.lazy {
		return n.pendingTenure(ctx, c.leaser)
	}
	return n.leaseTenure(ctx, c.leaser)
}

// validate reports everything that is wrong.
func (c *config) validate() error {
	if err := c.layout.Validate(); err != nil {
		return err // without a layout there are no ranges
	}
	p := c.layout.packing()
	err := errors.Join(
		c.inRange(xenv.SnowflakeDatacenterID, c.datacenter, p.dcBits),
		c.inRange(xenv.SnowflakeNodeID, c.node, p.nodeBits),
	)
	if c.maxBackward < minMaxBackward || c.maxBackward > maxMaxBackward {
		err = errors.Join(err, fmt.Errorf("the bound on a clock that goes back is %s (accepted: %s to %s)", c.maxBackward, minMaxBackward, maxMaxBackward))
	}
	if err != nil {
		return fmt.Errorf("xsnowflake: %w", err)
	}
	return nil
}

func (c *config) inRange(key xenv.EnvKey, n number, bits uint8) error {
	if limit := 1<<bits - 1; n.value < 0 || n.value > limit {
		return xenv.Problem(key, strconv.Itoa(n.value), "is out of range for the id layout "+c.layout.Name, fmt.Sprintf("0 to %d", limit))
	}
	return nil
}
