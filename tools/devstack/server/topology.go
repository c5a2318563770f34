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

// Topology is a way in which several servers belong together. There is one value of each.
type Topology struct {
	Name string // in requests, as "redis-cluster"
	Kind *Kind  // of the binary that it takes

	build func(ctx context.Context, d *Deployment) error
}

// Topologies are those that can be started.
func Topologies() []*Topology { return []*Topology{sentinelTopology, clusterTopology} }

// TopologyByName returns the topology with that name.
func TopologyByName(name string) (topology *Topology, ok bool) {
	i := slices.IndexFunc(Topologies(), func(t *Topology) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return Topologies()[i], true
}

// Deployment is several servers that belong together. Its nodes do not change; their
// roles may.
type Deployment struct {
	// Master is the name under which sentinels know the servers; empty where there are
	// none.
	Master string

	group *Group
	nodes []*Node
	dsn   string
}

// Node is one server of a deployment.
type Node struct {
	*Server
	Name string
	Role Role
}

// Role is what a node was when the deployment was built.
type Role string

// The roles.
const (
	RoleMaster   Role = "master"
	RoleReplica  Role = "replica"
	RoleSentinel Role = "sentinel"
)

// Deploy starts a deployment and returns when it is whole: every node knows the others,
// and the replicas have what their masters have. Where there is no binary on this machine
// the error is a *Missing.
func (g *Group) Deploy(ctx context.Context, t *Topology) (*Deployment, error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d := &Deployment{group: g}
	if err := t.build(ctx, d); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", t.Name, err), d.Delete(ctx))
	}
	return d, nil
}

// DSN is the connection string of an administrator, with the passwords.
func (d *Deployment) DSN() string { return d.dsn }

// TLSDSN is empty: the nodes do not encrypt.
func (d *Deployment) TLSDSN() string { return "" }

// Version is the product and its release, and the number of nodes.
func (d *Deployment) Version() string {
	return fmt.Sprintf("%s, %d nodes", d.nodes[0].Version(), len(d.nodes))
}

// Password is that of the nodes which hold data.
func (d *Deployment) Password() string { return d.group.password }

// Nodes returns the nodes.
func (d *Deployment) Nodes() []*Node { return slices.Clone(d.nodes) }

// Start starts those of the nodes that do not run.
func (d *Deployment) Start(ctx context.Context) error { return d.each(ctx, (*Server).Start) }

// Stop ends every node in order.
func (d *Deployment) Stop(ctx context.Context) error { return d.each(ctx, (*Server).Stop) }

// Kill ends every node at once.
func (d *Deployment) Kill(ctx context.Context) error { return d.each(ctx, (*Server).Kill) }

// Pause halts every node.
func (d *Deployment) Pause(ctx context.Context) error { return d.each(ctx, (*Server).Pause) }

// Continue lets every node go on.
func (d *Deployment) Continue(ctx context.Context) error { return d.each(ctx, (*Server).Continue) }

// Delete ends every node and removes its folder, also when ctx has ended.
func (d *Deployment) Delete(ctx context.Context) error { return d.each(ctx, (*Server).Delete) }

func (d *Deployment) each(ctx context.Context, do func(*Server, context.Context) error) error {
	return together(d.nodes, func(n *Node) error { return do(n.Server, ctx) })
}

// together does something with all items at once.
func together[T any](items []T, do func(T) error) error {
	problems := make([]error, len(items))
	var all sync.WaitGroup
	for i, item := range items {
		all.Go(func() { problems[i] = do(item) })
	}
	all.Wait()
	return errors.Join(problems...)
}

// add starts n nodes of a role.
func (d *Deployment) add(
	ctx context.Context, n int, role Role, kind *Kind, change func(*site),
) error {
	nodes := make([]*Node, n)
	for i := range nodes {
		nodes[i] = &Node{Name: "node-" + strconv.Itoa(len(d.nodes)+i+1), Role: role}
	}
	err := together(nodes, func(n *Node) (err error) {
		n.Server, err = d.group.start(ctx, kind, change)
		return err
	})
	d.nodes = append(d.nodes, slices.DeleteFunc(nodes,
		func(n *Node) bool { return n.Server == nil })...)
	return err
}

// role returns the nodes that had the role.
func (d *Deployment) role(role Role) []*Node {
	return slices.DeleteFunc(d.Nodes(), func(n *Node) bool { return n.Role != role })
}

// ask runs something with a client of one node.
func (n *Node) ask(do func(c *client.Client) error) error {
	n.mu.Lock()
	address, password := n.site.address(), n.site.password
	n.mu.Unlock()
	c := client.NewClient(&client.Options{
		Addr: address, Password: password, PoolSize: 1,
		ContextTimeoutEnabled: true,
	})
	defer func() { _ = c.Close() }()
	if err := do(c); err != nil {
		return fmt.Errorf("%s at %s: %w", n.Role, address, err)
	}
	return nil
}

// settled asks the node again and again until the answer holds no problem.
func (n *Node) settled(
	ctx context.Context, problem func(ctx context.Context, c *client.Client) error,
) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	return n.ask(func(c *client.Client) error {
		for {
			err := problem(ctx, c)
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
