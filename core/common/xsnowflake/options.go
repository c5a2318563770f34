package xsnowflake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// maxBackward is how far the clock may go back before a node returns errors. It is half
// of the maximum time that a caller waits for an id.
const maxBackward = 5 * time.Second

// Option configures NewNode.
type Option func(*config)

type config struct {
	layout           Layout
	datacenter, node *int // nil if not set
	clock            func() time.Time
	maxBackward      time.Duration
	leases           *xlease.Leases
	ttl              time.Duration
	leaseDir         string
}

// WithLayout sets the id layout. The default is LayoutDefault.
func WithLayout(l Layout) Option { return func(c *config) { c.layout = l } }

// WithDatacenterID sets the datacenter ID. Without WithNodeID, the node leases a node ID
// of this datacenter.
func WithDatacenterID(id int) Option { return func(c *config) { c.datacenter = &id } }

// WithNodeID sets the node ID, which must be unique in its datacenter. The datacenter ID
// is 0 unless WithDatacenterID sets it.
func WithNodeID(id int) Option { return func(c *config) { c.node = &id } }

// WithClock replaces the system clock in tests. If its times have no monotonic reading, a
// step of the clock is a step of both clocks. A clock that does not advance provides one
// millisecond of ids per gene. The next id waits, in real time, until the clock advances
// or 10 s have passed.
func WithClock(clock func() time.Time) Option { return func(c *config) { c.clock = clock } }

// WithLeases leases the node ID from l, unless WithNodeID sets it. The lease has the
// given TTL, or SNOWFLAKE_LEASE_TTL if ttl is 0. All nodes that share the leases must use
// the same TTL.
//
// Without WithLeases, the processes of a host share leases in the default directory of
// xlease.InDirectory. A process holds its lease while it runs. Replicas that do not share
// the directory may have equal node IDs. With 8 replicas and the 64 node IDs of
// LayoutDefault, that happens in 37 % of all starts.
//
// Ids are unique even if the clocks of hosts differ. Before a holder generates ids, it
// stores a time that its ids do not reach, and the next holder starts after that time. If
// the backend may have lost the record of a holder, the node waits until that holder can
// no longer generate ids. In that case the wall clocks of the hosts may differ by at most
// one second.
func WithLeases(l *xlease.Leases, ttl time.Duration) Option {
	return func(c *config) { c.leases, c.ttl = l, ttl }
}

// NewNode returns a node with the configured node ID. Without one, the first id leases a
// node ID, so a process without ids holds no lease. Concurrent callers share the attempt.
// Until then, DatacenterID and NodeID return 0. A goroutine renews the lease until Close.
//
// NewNode reports every invalid option at once.
func NewNode(opts ...Option) (*Node, error) {
	c := config{layout: layoutDefault, maxBackward: maxBackward}
	for _, o := range opts {
		o(&c)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	registerMapper()
	l := c.layout
	n := &Node{
		layout: l,
		clock: newClock(c.clock, time.UnixMilli(l.Epoch), time.Duration(l.end())*time.Millisecond,
			c.maxBackward),
		mask: 1<<l.sequence.bits - 1, ahead: c.maxBackward.Milliseconds(),
		sequences: make([]sequence, l.gene.values()),
		lastGene:  Gene(l.gene.values() - 1), // at most 8 bits
		slotCount: l.Datacenters() * l.Nodes(),
	}
	if _, _, err := n.clock.now(); err != nil {
		return nil, err
	}
	n.closeCtx, n.closeCancel = context.WithCancelCause(context.Background())
	if c.datacenter != nil {
		n.firstSlot, n.slotCount = *c.datacenter*l.Nodes(), l.Nodes()
	}
	if c.node != nil {
		n.tenure.Store(n.newTenure(n.firstSlot + *c.node))
		return n, nil
	}
	env, _ := xenv.Load[variables](xenv.Environment()) // startup validation reports the error
	n.leases, n.ttl = c.leases, cmp.Or(c.ttl, env.LeaseTTL)
	if n.leases == nil {
		n.leases, n.ttl, n.local = xlease.New(xlease.InDirectory(c.leaseDir)), xlease.MaxTTL, true
	}
	n.tenure.Store(&tenure{pending: true})
	return n, nil
}

// FromEnv returns a node with the layout SNOWFLAKE_LAYOUT and the node ID of
// SNOWFLAKE_DATACENTER_ID and SNOWFLAKE_NODE_ID. If neither is set, it leases a node ID
// in the directory SNOWFLAKE_LEASE_DIR. WithDatacenterID and WithNodeID describe what
// happens if only one is set. The environment overrides opts, but WithLeases overrides
// the directory.
func FromEnv(opts ...Option) (*Node, error) {
	v, problems := xenv.Load[variables](xenv.Environment())
	if problems != nil {
		return nil, fmt.Errorf("xsnowflake: %w", problems)
	}
	all := append([]Option{func(c *config) { c.leaseDir = v.LeaseDir }}, opts...)
	if _, set := xenv.GetEnv(layoutKey); set {
		l, _ := LayoutNamed(v.Layout) // Load validates the name
		all = append(all, WithLayout(l))
	}
	if _, set := xenv.GetEnv(xenv.SnowflakeDatacenterID); set {
		all = append(all, WithDatacenterID(v.DatacenterID))
	}
	if _, set := xenv.GetEnv(xenv.SnowflakeNodeID); set {
		all = append(all, WithNodeID(v.NodeID))
	}
	return NewNode(all...)
}

func (c *config) validate() error {
	if c.layout.sequence.bits == 0 {
		return errors.New("xsnowflake: the id layout is empty " +
			"(accepted: LayoutDefault, another predefined layout, or a copy)")
	}
	err := errors.Join(
		c.inRange(xenv.SnowflakeDatacenterID, c.datacenter, c.layout.Datacenters()),
		c.inRange(xenv.SnowflakeNodeID, c.node, c.layout.Nodes()),
	)
	if err != nil {
		return fmt.Errorf("xsnowflake: %w", err)
	}
	return nil
}

func (c *config) inRange(key xenv.EnvKey, id *int, values int) error {
	if id != nil && (*id < 0 || *id >= values) {
		return xenv.Problem(key, strconv.Itoa(*id),
			"is out of range for the id layout "+c.layout.Name, fmt.Sprintf("0 to %d", values-1))
	}
	return nil
}
