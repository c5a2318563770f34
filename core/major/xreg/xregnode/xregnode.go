// Package xregnode holds the nodes of an application: what it starts, and the values that
// they gave.
package xregnode

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Func starts one part of the application. ctx has the values of everything that started
// before it.
//
// A value with a method Close(), Close() error or Close(context.Context) error is closed
// at the stop, in reverse order; one with CheckHealth(context.Context) error takes part
// in the readiness of the service.
type Func = func(ctx context.Context) (any, error)

// Node is a part of an application, and the key under which its value is found.
type Node struct {
	// Key is the application's own, once in the list; xctx.Exec marks a node whose value
	// is not kept.
	Key xctx.ContextKey
	// Node is the function that starts it.
	Node Func
}

// Nodes is the collection of initialized nodes, which a context holds under
// xctx.RegNodeKey. The zero value is empty and ready to use.
type Nodes struct{ values sync.Map }

// Get returns the value of a node.
func (n *Nodes) Get(key xctx.ContextKey) (any, bool) { return n.values.Load(key) }

// Set keeps the value of a node. Applications list their nodes instead.
func (n *Nodes) Set(key xctx.ContextKey, value any) { n.values.Store(key, value) }

// Check returns every problem of a list whose nodes are to be added to nodes, joined.
func (n *Nodes) Check(list []Node) error {
	var errs []error
	seen := map[xctx.ContextKey]int{}
	for i, node := range list {
		at, key := i+1, node.Key
		if node.Node == nil {
			errs = append(errs, fmt.Errorf("node %d (%q): the function is nil", at, key))
		}
		_, taken := n.Get(key)
		switch {
		case key.IsExec():
		case key.IsNil():
			errs = append(errs,
				fmt.Errorf("node %d: the key is empty (use xctx.Exec for a node that only runs)",
					at))
		case key.IsReserved():
			errs = append(errs,
				fmt.Errorf("node %d: the key %q is reserved for the framework", at, key))
		case seen[key] > 0:
			errs = append(errs,
				fmt.Errorf("node %d: the key %q is already that of node %d", at, key, seen[key]))
		case taken:
			errs = append(errs, fmt.Errorf("node %d: the key %q is already registered", at, key))
		default:
			seen[key] = at
		}
	}
	return errors.Join(errs...)
}

// nodeContext answers the keys of its nodes, and xctx.RegNodeKey with the nodes
// themselves.
type nodeContext struct {
	context.Context
	nodes *Nodes
}

// NewContext returns a context in which the values of nodes are found under their keys,
// also those that are set later. What answers requests on another transport wraps each
// request's context with it.
func NewContext(ctx context.Context, nodes *Nodes) context.Context {
	return nodeContext{Context: ctx, nodes: nodes}
}

// From returns the nodes of the application that ctx belongs to, or nil.
func From(ctx context.Context) *Nodes {
	if ctx == nil {
		return nil
	}
	n, _ := ctx.Value(xctx.RegNodeKey).(*Nodes)
	return n
}

// Value implements context.Context.
func (c nodeContext) Value(key any) any {
	if key == xctx.RegNodeKey {
		return c.nodes
	}
	if _, ok := key.(xctx.ContextKey); ok {
		if v, found := c.nodes.values.Load(key); found {
			return v
		}
	}
	return c.Context.Value(key)
}
