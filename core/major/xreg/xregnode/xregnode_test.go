package xregnode_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func node(context.Context) (any, error) { return nil, nil }

func TestNodes_Check(t *testing.T) {
	t.Run("reports all problems", func(t *testing.T) {
		var nodes xregnode.Nodes
		nodes.Set("old", 1)
		err := nodes.Check([]xregnode.Node{
			{Key: "a", Node: node},
			{Key: "a", Node: node},
			{Key: xctx.DatabaseKey, Node: node},
			{Key: "", Node: node},
			{Key: "b"},
			{Key: "old", Node: node},
			{Key: xctx.Exec, Node: node},
			{Key: xctx.Exec, Node: node},
		})
		want := []string{
			`node 2: the key "a" is already used by node 1`,
			`node 3: the key "plinth_database" is reserved for the framework`,
			`node 4: the key is empty (use xctx.Exec for a node without a value)`,
			`node 5 ("b"): the function is nil`,
			`node 6: the key "old" is already registered`,
		}
		if err == nil || err.Error() != strings.Join(want, "\n") {
			t.Errorf("Check =\n%v\nwant\n%s", err, strings.Join(want, "\n"))
		}
	})

	t.Run("accepts a valid list", func(t *testing.T) {
		err := new(xregnode.Nodes).Check([]xregnode.Node{
			{Key: "a", Node: node},
			{Key: xctx.EmailClientKey, Node: node},
		})
		if err != nil {
			t.Errorf("Check = %v, want nil", err)
		}
	})
}

func TestNewContext(t *testing.T) {
	var nodes xregnode.Nodes
	type key struct{}
	ctx := xregnode.NewContext(context.WithValue(t.Context(), key{}, "parent"), &nodes)
	child, cancel := context.WithCancel(ctx)
	defer cancel()
	if got := child.Value(xctx.ContextKey("a")); got != nil {
		t.Errorf("value before Set = %v, want nil", got)
	}
	nodes.Set("a", 1)
	if got := child.Value(xctx.ContextKey("a")); got != 1 {
		t.Errorf("value after Set = %v, want 1", got)
	}
	if got := child.Value(key{}); got != "parent" {
		t.Errorf("other value = %v, want the parent's", got)
	}
	if xregnode.From(child) != &nodes {
		t.Error("From did not return the nodes")
	}
}

func TestFrom_Empty(t *testing.T) {
	if xregnode.From(t.Context()) != nil {
		t.Error("From returned nodes for an empty context")
	}
	var empty xregnode.Nodes
	if _, ok := empty.Get("a"); ok {
		t.Error("the zero value is not empty")
	}
}

func TestNodes_Set_Concurrent(t *testing.T) {
	var nodes xregnode.Nodes
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			nodes.Set(xctx.ContextKey(rune('a'+i)), i)
			nodes.Get("a")
		})
	}
	wg.Wait()
	for i := range 8 {
		if v, _ := nodes.Get(xctx.ContextKey(rune('a' + i))); v != i {
			t.Errorf("node %d = %v", i, v)
		}
	}
}
