package xsnowflake_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// manualClock advances only with Add.
type manualClock struct {
	mu  sync.Mutex
	now time.Time
}

func (m *manualClock) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *manualClock) Add(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

func checkDistinct(t *testing.T, ids []xsnowflake.SnowflakeID) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(ids))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			t.Fatalf("id %d is used twice", sorted[i])
		}
	}
}

func generate(t *testing.T, n *xsnowflake.Node, count int) []xsnowflake.SnowflakeID {
	t.Helper()
	ids := make([]xsnowflake.SnowflakeID, count)
	for i := range ids {
		id, err := n.Generate()
		if err != nil {
			t.Fatalf("Generate, id %d: %v", i, err)
		}
		ids[i] = id
	}
	return ids
}

func TestNode_Generate(t *testing.T) {
	t.Run("returns distinct ascending ids to concurrent callers", func(t *testing.T) {
		n := newNode(t)
		const workers, each = 8, 5000
		all := make([][]xsnowflake.SnowflakeID, workers)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				ids := make([]xsnowflake.SnowflakeID, each)
				for i := 0; i < each; i++ {
					if i%100 == 0 {
						if err := n.NextN(ids[i:i+50], xsnowflake.GeneUser); err != nil {
							t.Error(err)
						}
						i += 49
						continue
					}
					ids[i], _ = n.Generate(xsnowflake.GeneUser)
				}
				all[w] = ids
			})
		}
		wg.Wait()
		for _, ids := range all {
			if !slices.IsSorted(ids) {
				t.Error("the ids of one goroutine are not ascending")
			}
		}
		checkDistinct(t, slices.Concat(all...))
		if id := all[0][0]; id.Gene() != xsnowflake.GeneUser || id.DatacenterID() != 3 ||
			id.NodeID() != 5 {
			t.Errorf("gene, datacenter, node = %v, %d, %d, want user, 3, 5",
				id.Gene(), id.DatacenterID(), id.NodeID())
		}
	})

	t.Run("has one sequence per gene", func(t *testing.T) {
		n := newNode(t, xsnowflake.WithClock((&manualClock{now: at}).Now))
		for g := range xsnowflake.Gene(64) {
			for want := range 3 {
				if id := n.MustGenerate(g); id.Sequence() != want || id.Gene() != g ||
					!id.Time().Equal(at) {
					t.Fatalf("id of gene %d has gene %v, sequence %d, time %v",
						g, id.Gene(), id.Sequence(), id.Time())
				}
			}
		}
	})

	t.Run("sleeps until the next millisecond", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, start := newNode(t, bubbleEpoch()), time.Now()
			ids := generate(t, n, 1024)
			if waited := time.Since(start); waited != 0 {
				t.Errorf("1024 ids took %v, want 0", waited)
			}
			ids = append(ids, generate(t, n, 1024)...)
			if waited := time.Since(start); waited != time.Millisecond {
				t.Errorf("2048 ids took %v, want 1ms", waited)
			}
			if err := n.NextN(ids[:1:1], 0); err != nil {
				t.Fatal(err)
			}
			checkDistinct(t, ids)
		})
	})

	t.Run("assigns waiting callers to milliseconds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, start := newNode(t, bubbleEpoch()), time.Now()
			generate(t, n, 1024)
			ids := make([]xsnowflake.SnowflakeID, 5*1024)
			var wg sync.WaitGroup
			for i := range ids {
				wg.Go(func() { ids[i] = n.MustGenerate() })
			}
			wg.Wait()
			checkDistinct(t, ids)
			if waited := time.Since(start); waited != 5*time.Millisecond {
				t.Errorf("ids of 5 milliseconds took %v, want 5ms", waited)
			}
		})
	})

	// The operating system may wake up a goroutine late. The node then uses the sequence
	// numbers of the delay, but no older numbers.
	t.Run("loses no sequence numbers after a late wakeup", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, bubbleEpoch())
			ids := generate(t, n, 1025) // saturated: the last one waits
			<-time.After(10 * time.Millisecond)
			start := time.Now()
			ids = append(ids, generate(t, n, 10*1024)...)
			if waited := time.Since(start); waited != 0 {
				t.Errorf("ids of 10 milliseconds took %v after 10 ms, want 0", waited)
			}
			for _, id := range ids[1025:] {
				if age := start.Sub(n.TimeOf(id)); age < 0 || age > xsnowflake.CatchUp {
					t.Fatalf("an id is %v old, want at most %v", age, xsnowflake.CatchUp)
				}
			}
			checkDistinct(t, ids)

			<-time.After(xsnowflake.CatchUp + 2*time.Millisecond)
			if got := n.TimeOf(n.MustGenerate()); !got.Equal(time.Now()) {
				t.Errorf("time of an id after a pause = %v, want %v", got, time.Now())
			}
			<-time.After(5 * time.Millisecond)
			if got := n.TimeOf(n.MustGenerate()); !got.Equal(time.Now()) {
				t.Errorf("time of an id after a short pause = %v, want %v", got, time.Now())
			}
		})
	})

	t.Run("fails if too many callers wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			clock := &manualClock{now: at}
			n := newNode(t, xsnowflake.WithLayout(xsnowflake.LayoutWide),
				xsnowflake.WithDatacenterID(0), xsnowflake.WithClock(clock.Now),
				xsnowflake.WithMaxBackward(10*time.Millisecond))
			generate(t, n, 64)
			var wg sync.WaitGroup
			for range 10*64 + 1 {
				wg.Go(func() { _, _ = n.Generate() })
			}
			synctest.Wait()
			if _, err := n.Generate(); !errors.Is(err, xsnowflake.ErrExhausted) {
				t.Errorf("Generate = %v, want ErrExhausted", err)
			}
			clock.Add(time.Second)
			wg.Wait()
			generate(t, n, 1)
		})
	})

	t.Run("fails if the clock does not advance", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, xsnowflake.WithClock((&manualClock{now: at}).Now),
				xsnowflake.WithMaxBackward(100*time.Millisecond))
			generate(t, n, 1024)
			start := time.Now()
			if _, err := n.Generate(); !errors.Is(err, xsnowflake.ErrClock) {
				t.Errorf("Generate = %v, want ErrClock", err)
			}
			if waited := time.Since(start); waited != 200*time.Millisecond {
				t.Errorf("Generate took %v, want twice the bound", waited)
			}
		})
	})

	t.Run("does not allocate", func(t *testing.T) {
		n := newNode(t)
		var g xsnowflake.Gene
		if got := testing.AllocsPerRun(1000, func() {
			g = (g + 1) & 63
			_, _ = n.Generate(g)
		}); got != 0 {
			t.Errorf("allocations = %v, want 0", got)
		}
	})

	t.Run("fails if the gene is out of range", func(t *testing.T) {
		n := newNode(t)
		_, err := n.Generate(64)
		if !errors.Is(err, xsnowflake.ErrGene) ||
			!strings.Contains(err.Error(), "64 (accepted: 0 to 63)") {
			t.Errorf("Generate(64) = %v, want ErrGene with the range", err)
		}
		err = n.NextN(make([]xsnowflake.SnowflakeID, 2), 64)
		if !errors.Is(err, xsnowflake.ErrGene) {
			t.Errorf("NextN = %v, want ErrGene", err)
		}
		defer func() {
			if err, ok := recover().(error); !ok || !errors.Is(err, xsnowflake.ErrGene) {
				t.Errorf("MustGenerate panicked with %v, want ErrGene", err)
			}
		}()
		n.MustGenerate(64)
	})
}

func TestNewNode_InvalidOptions(t *testing.T) {
	_, err := xsnowflake.NewNode(xsnowflake.WithDatacenterID(8), xsnowflake.WithNodeID(-1))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`SNOWFLAKE_DATACENTER_ID: "8" is out of range for the id layout default (accepted: 0 to 7)`,
		`SNOWFLAKE_NODE_ID: "-1" is out of range for the id layout default (accepted: 0 to 7)`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not contain %q", err, want)
		}
	}
	_, err = xsnowflake.NewNode(xsnowflake.WithLayout(xsnowflake.LayoutWide),
		xsnowflake.WithNodeID(1023))
	if err != nil {
		t.Errorf("node ID 1023 in the wide layout: %v", err)
	}
	_, err = xsnowflake.NewNode(xsnowflake.WithLayout(xsnowflake.Layout{}),
		xsnowflake.WithNodeID(0))
	if err == nil || !strings.Contains(err.Error(), "LayoutDefault") {
		t.Errorf("NewNode with an empty layout = %v, want an error with LayoutDefault", err)
	}
}

func TestNode_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := xsnowflake.NewNode(xsnowflake.WithNodeID(1), bubbleEpoch())
		if err != nil {
			t.Fatal(err)
		}
		generate(t, n, 1024)
		waiting := make(chan error)
		go func() {
			_, err := n.Generate()
			waiting <- err
		}()
		synctest.Wait()
		for range 2 {
			if err := n.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if err := <-waiting; !errors.Is(err, xsnowflake.ErrClosed) {
			t.Errorf("waiting Generate = %v, want ErrClosed", err)
		}
		if _, err := n.Generate(); !errors.Is(err, xsnowflake.ErrClosed) {
			t.Errorf("Generate = %v, want ErrClosed", err)
		}
		if err := n.CheckHealth(t.Context()); !errors.Is(err, xsnowflake.ErrClosed) {
			t.Errorf("CheckHealth = %v, want ErrClosed", err)
		}
	})
}

func TestNewNode(t *testing.T) {
	n := newNode(t)
	if n.DatacenterID() != 3 || n.NodeID() != 5 || n.Layout() != xsnowflake.LayoutDefault {
		t.Errorf("datacenter %d, node %d, layout %q", n.DatacenterID(), n.NodeID(), n.Layout().Name)
	}
	if err := n.CheckHealth(t.Context()); err != nil {
		t.Errorf("CheckHealth: %v", err)
	}
}

func ExampleNewNode() {
	node, err := xsnowflake.NewNode(xsnowflake.WithDatacenterID(1), xsnowflake.WithNodeID(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = node.Close() }()

	id, err := node.Generate(xsnowflake.GeneOrder)
	fmt.Println(id.Gene(), id.DatacenterID(), id.NodeID(), err)

	_, err = xsnowflake.NewNode(xsnowflake.WithNodeID(8))
	fmt.Println(err)
	// Output:
	// 16 1 2 <nil>
	// xsnowflake: SNOWFLAKE_NODE_ID: "8" is out of range for the id layout default (accepted: 0 to 7)
}
