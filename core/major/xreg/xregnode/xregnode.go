// Package xregnode holds the nodes of an application: what it starts, and the values that they gave.
package xregnode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Func starts one part of the application. ctx has the values of everything that started before it.
//
// A value with a method Close(), Close() error or Close(context.Context) error is closed at the stop, in reverse
// order; one with CheckHealth(context.Context) error takes part in the readiness of the service.
type Func = func(ctx context.Context) (any, error)

// Node is a part of an application, and the key under which its value is found.
type Node struct {
	// Key is the application's own, once in the list; xctx.Exec marks a node whose value is not kept.
	Key xctx.ContextKey
	// Node is the function that starts it.
	Node Func
}

// Check returns every problem of a list, joined. Keys in taken count as already registered; it may be nil.
func Check(list []Node, taken func(xctx.ContextKey) bool) error {
	var errs []error
	seen := map[xctx.ContextKey]int{}
	for i, n := range list {
		at := i + 1
		if n.Node == nil {
			errs = append(errs, fmt.Errorf("node %d (%q): the function is nil", at, n.Key))
		}
		switch {
		case n.Key.IsExec():
		case n.Key.IsNil():
			errs = append(errs, fmt.Errorf("node %d: the key is empty (use xctx.Exec for a node that only runs)", at))
		case n.Key.IsReserved():
			errs = append(errs, fmt.Errorf("node %d: the key %q is reserved for the framework", at, n.Key))
		case seen[n.Key] > 0:
			errs = append(errs, fmt.Errorf("node %d: the key %q is already that of node %d", at, n.Key, seen[n.Key]))
		case taken != nil && taken(n.Key):
			errs = append(errs, fmt.Errorf("node %d: the key %q is already registered", at, n.Key))
		default:
			seen[n.Key] = at
		}
	}
	return errors.Join(errs...)
}

// Nodes is the collection of initialized nodes, which a context holds under xctx.RegNodeKey. The zero value is
// empty and ready to use. Reading takes no lock.
type Nodes struct {
	mu     sync.Mutex
	values atomic.Pointer[map[xctx.ContextKey]any]
}

// Get returns the value of a node.
func (n *Nodes) Get(key xctx.ContextKey) (any, bool) {
	m := n.values.Load()
	if m == nil {
		return nil, false
	}
	v, ok := (*m)[key]
	return v, ok
}

// Set keeps the value of a node. Applications list their nodes instead.
func (n *Nodes) Set(key xctx.ContextKey, value any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	next := map[xctx.ContextKey]any{}
	if m := n.values.Load(); m != nil {
		next = maps.Clone(*m)
	}
	next[key] = value
	n.values.Store(&next)
}

// Len returns the number of values.
func (n *Nodes) Len() int {
	m := n.values.Load()
	if m == nil {
		return 0
	}
	return len(*m)
}

// nodeContext answers the keys of its nodes, and xctx.RegNodeKey with the nodes themselves.
type nodeContext struct {
	context.Context
	nodes *Nodes
}

// NewContext returns a context in which the values of nodes are found under their keys, also those that are set later.
// What answers requests on another transport wraps each request's context with it.
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
	k, ok := key.(xctx.ContextKey)
	if !ok {
		return c.Context.Value(key)
	}
	if k == xctx.RegNodeKey {
		return c.nodes
	}
	if v, found := c.nodes.Get(k); found {
		return v
	}
	return c.Context.Value(key)
}
