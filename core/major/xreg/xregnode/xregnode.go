// Package xregnode defines the nodes of an application and stores their values.
package xregnode

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// Func starts one component of the application. ctx carries the values of all components
// that started earlier.
//
// A value with a method Close(), Close() error or Close(context.Context) error is closed
// at shutdown, in reverse order. A value with CheckHealth(context.Context) error
// contributes to the readiness of the service.
type Func = func(ctx context.Context) (any, error)

// Node is a component of an application with the key of its value.
type Node struct {
	// Key identifies the value and must be unique. Use xctx.Exec for a node without a
	// value.
	Key xctx.ContextKey
	// Node starts the component.
	Node Func
}

// Nodes stores the values of started nodes. The application's context carries it under
// xctx.RegNodeKey. The zero value is empty and ready to use. Nodes is safe for concurrent
// use.
type Nodes struct{ values sync.Map }

// Get returns the value of a node.
func (n *Nodes) Get(key xctx.ContextKey) (any, bool) { return n.values.Load(key) }

// Set stores the value of a node. Applications do not call it but pass their nodes to
// xreg.Register.
func (n *Nodes) Set(key xctx.ContextKey, value any) { n.values.Store(key, value) }

// Check returns the problems of a list of nodes before they are added to n, joined.
func (n *Nodes) Check(list []Node) error {
	var errs []error
	seen := map[xctx.ContextKey]int{}
	for i, node := range list {
		number, key := i+1, node.Key
		if node.Node == nil {
			errs = append(errs, fmt.Errorf("node %d (%q): the function is nil", number, key))
		}
		_, registered := n.Get(key)
		switch {
		case key.IsExec():
		case key.IsNil():
			errs = append(errs,
				fmt.Errorf("node %d: the key is empty (use xctx.Exec for a node without a value)",
					number))
		case key.IsReserved():
			errs = append(errs,
				fmt.Errorf("node %d: the key %q is reserved for the framework", number, key))
		case seen[key] > 0:
			errs = append(errs, fmt.Errorf("node %d: the key %q is already used by node %d",
				number, key, seen[key]))
		case registered:
			errs = append(errs,
				fmt.Errorf("node %d: the key %q is already registered", number, key))
		default:
			seen[key] = number
		}
	}
	return errors.Join(errs...)
}

// nodeContext returns the values of its nodes, and the nodes for xctx.RegNodeKey.
type nodeContext struct {
	context.Context
	nodes *Nodes
}

// NewContext returns a context that carries the values of nodes under their keys,
// including values that are set later. Servers of other transports derive the context of
// each request from the application's context.
func NewContext(ctx context.Context, nodes *Nodes) context.Context {
	return nodeContext{Context: ctx, nodes: nodes}
}

// From returns the nodes of the application of ctx, or nil.
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
