package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	client "github.com/redis/go-redis/v9"
)

// Topology is a deployment of several servers. There is one value per topology.
type Topology struct {
	Name string // in requests, such as "redis-cluster"
	Kind *Kind  // the kind of its binary

	build func(ctx context.Context, d *Deployment) error
}

// Topologies returns the available topologies.
func Topologies() []*Topology { return []*Topology{sentinelTopology, clusterTopology} }

// TopologyByName returns the topology with the given name.
func TopologyByName(name string) (topology *Topology, ok bool) {
	i := slices.IndexFunc(Topologies(), func(t *Topology) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return Topologies()[i], true
}

// Deployment is a running topology. Its nodes do not change, but their roles may.
type Deployment struct {
	// Master is the name of the master for sentinels, or "" without sentinels.
	Master string

	group *Group
	nodes []*Node
	dsn   string
}

// Node is a server of a deployment.
type Node struct {
	*Server
	Name string
	Role Role
}

// Role is the initial role of a node.
type Role string

// Roles of nodes.
const (
	RoleMaster   Role = "master"
	RoleReplica  Role = "replica"
	RoleSentinel Role = "sentinel"
)

// Deploy starts a deployment and waits until all nodes are connected and the replicas are
// synchronized. It returns a *Missing if the binary is not installed.
func (g *Group) Deploy(ctx context.Context, t *Topology) (*Deployment, error) {
	ctx, done, err := g.startCall(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	d := &Deployment{group: g}
	if err := t.build(ctx, d); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", t.Name, err), d.Delete(ctx))
	}
	return d, nil
}

// DSN returns the connection string of an administrator, including the passwords.
func (d *Deployment) DSN() string { return d.dsn }

// TLSDSN returns "": the nodes do not support TLS.
func (d *Deployment) TLSDSN() string { return "" }

// Version returns the product, its release and the number of nodes.
func (d *Deployment) Version() string {
	return fmt.Sprintf("%s, %d nodes", d.nodes[0].Version(), len(d.nodes))
}

// Password returns the password of the data nodes.
func (d *Deployment) Password() string { return d.group.password }

// Nodes returns the nodes.
func (d *Deployment) Nodes() []*Node { return slices.Clone(d.nodes) }

// Start starts the nodes that are not running.
func (d *Deployment) Start(ctx context.Context) error { return d.each(ctx, (*Server).Start) }

// Stop shuts all nodes down gracefully.
func (d *Deployment) Stop(ctx context.Context) error { return d.each(ctx, (*Server).Stop) }

// Kill kills all nodes.
func (d *Deployment) Kill(ctx context.Context) error { return d.each(ctx, (*Server).Kill) }

// Pause pauses all nodes.
func (d *Deployment) Pause(ctx context.Context) error { return d.each(ctx, (*Server).Pause) }

// Continue resumes all nodes.
func (d *Deployment) Continue(ctx context.Context) error { return d.each(ctx, (*Server).Continue) }

// Delete stops all nodes and removes their directories, even if ctx is canceled.
func (d *Deployment) Delete(ctx context.Context) error { return d.each(ctx, (*Server).Delete) }

func (d *Deployment) each(ctx context.Context, do func(*Server, context.Context) error) error {
	return forAll(d.nodes, func(n *Node) error { return do(n.Server, ctx) })
}

// forAll calls do for all items concurrently and joins the errors.
func forAll[T any](items []T, do func(T) error) error {
	problems := make([]error, len(items))
	var all sync.WaitGroup
	for i, item := range items {
		all.Go(func() { problems[i] = do(item) })
	}
	all.Wait()
	return errors.Join(problems...)
}

// add starts n nodes with a role.
func (d *Deployment) add(
	ctx context.Context, n int, role Role, kind *Kind, change func(*site),
) error {
	nodes := make([]*Node, n)
	for i := range nodes {
		nodes[i] = &Node{Name: "node-" + strconv.Itoa(len(d.nodes)+i+1), Role: role}
	}
	err := forAll(nodes, func(n *Node) (err error) {
		n.Server, err = d.group.start(ctx, kind, change)
		return err
	})
	d.nodes = append(d.nodes, slices.DeleteFunc(nodes,
		func(n *Node) bool { return n.Server == nil })...)
	return err
}

// role returns the nodes with an initial role.
func (d *Deployment) role(role Role) []*Node {
	return slices.DeleteFunc(d.Nodes(), func(n *Node) bool { return n.Role != role })
}

// withClient calls do with a client of the node.
func (n *Node) withClient(do func(c *client.Client) error) error {
	n.mu.Lock()
	address, password := n.site.address(), n.site.password
	n.mu.Unlock()
	c := client.NewClient(&client.Options{
		Addr: address, Password: password, PoolSize: 1, ContextTimeoutEnabled: true,
	})
	defer func() { _ = c.Close() }()
	if err := do(c); err != nil {
		return fmt.Errorf("%s at %s: %w", n.Role, address, err)
	}
	return nil
}

// waitFor calls check repeatedly until it returns nil or ctx is canceled.
func (n *Node) waitFor(
	ctx context.Context, check func(ctx context.Context, c *client.Client) error,
) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	return n.withClient(func(c *client.Client) error {
		for {
			err := check(ctx, c)
			if err == nil {
				return nil
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return errors.Join(context.Cause(ctx), err)
			}
		}
	})
}
