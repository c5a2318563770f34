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

// maxBackward is how far the clock may go back before a node refuses to make ids, and
// half of the longest time that a caller waits for one.
const maxBackward = 5 * time.Second

// Option configures NewNode.
type Option func(*config)

type config struct {
	layout           Layout
	datacenter, node *int // nil if it is not given
	clock            func() time.Time
	maxBackward      time.Duration
	leases           *xlease.Leases
	ttl              time.Duration
	folder           string
}

// WithLayout chooses where the parts of an id are; LayoutDefault by default.
func WithLayout(l Layout) Option { return func(c *config) { c.layout = l } }

// WithDatacenterID sets the ID of the datacenter. Without WithNodeID, a node ID of this
// datacenter is leased.
func WithDatacenterID(id int) Option { return func(c *config) { c.datacenter = &id } }

// WithNodeID sets the ID of the node, which no other node in its datacenter may have. The
// datacenter is 0 unless WithDatacenterID sets it.
func WithNodeID(id int) Option { return func(c *config) { c.node = &id } }

// WithClock replaces the system's clock, for tests. Where its times have no monotonic
// reading, a step of it is a step of both clocks. A clock that stands still has one
// millisecond's worth of ids for each gene; the next one waits, in real time, until the
// clock moves or 10 s are over.
func WithClock(clock func() time.Time) Option { return func(c *config) { c.clock = clock } }

// WithLeases leases the node ID from l for ttl at a time, or for SNOWFLAKE_LEASE_TTL if
// that is 0, unless WithNodeID gives it. All nodes that share the leases use one TTL.
// Without it, an xlease.InFolder with the default folder decides between the processes of
// this host, and the node ID is held as long as the process runs: two replicas that do
// not share the folder soon get the same one (of 8 replicas in the 64 node IDs of
// LayoutDefault, in 37 % of all starts).
//
// Ids stay unique whatever the clocks of the hosts say: every holder leaves behind,
// before it makes ids, a time that they do not reach, by its own clock, and the next one
// starts after it. If the backend may have forgotten a holder, the first ids carry a time
// after the last moment at which that one could have made any, and the node waits for
// that; then the wall clocks of the hosts may differ by a second.
func WithLeases(l *xlease.Leases, ttl time.Duration) Option {
	return func(c *config) { c.leases, c.ttl = l, ttl }
}

// NewNode returns a node with the node ID that was given, or else one that it leases with
// the first id: a process that makes none takes none. Callers that need the node ID in
// the meantime share one attempt. Until then DatacenterID and NodeID are 0. A goroutine
// that Close ends renews the lease.
//
// Every wrong option is reported at once.
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
	n.life, n.kill = context.WithCancelCause(context.Background())
	if c.datacenter != nil {
		n.firstSlot, n.slotCount = *c.datacenter*l.Nodes(), l.Nodes()
	}
	if c.node != nil {
		n.tenure.Store(n.newTenure(n.firstSlot + *c.node))
		return n, nil
	}
	env, _ := xenv.Load[variables](xenv.Environment()) // Validate reports it
	n.leases, n.ttl = c.leases, cmp.Or(c.ttl, env.LeaseTTL)
	if n.leases == nil {
		n.leases, n.ttl, n.local = xlease.New(xlease.InFolder(c.folder)), xlease.MaxTTL, true
	}
	n.tenure.Store(&tenure{pending: true})
	return n, nil
}

// FromEnv returns a node with the layout that SNOWFLAKE_LAYOUT names and the node ID in
// SNOWFLAKE_DATACENTER_ID and SNOWFLAKE_NODE_ID, or one leased in the folder
// SNOWFLAKE_LEASE_DIR if they are not set. See WithDatacenterID and WithNodeID for the
// case that only one is. The environment wins over opts, except over WithLeases, which
// replaces the folder.
func FromEnv(opts ...Option) (*Node, error) {
	v, problems := xenv.Load[variables](xenv.Environment())
	if problems != nil {
		return nil, fmt.Errorf("xsnowflake: %w", problems)
	}
	all := append([]Option{func(c *config) { c.folder = v.LeaseDir }}, opts...)
	if _, set := xenv.GetEnv(layoutKey); set {
		l, _ := LayoutNamed(v.Layout) // Load has looked at the name
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

// validate reports everything that is wrong.
func (c *config) validate() error {
	if c.layout.sequence.bits == 0 {
		return errors.New("xsnowflake: the id layout is empty (accepted: LayoutDefault, another one of Plinth, or a copy)")
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
