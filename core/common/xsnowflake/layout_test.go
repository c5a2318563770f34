package xsnowflake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// at is 13852800123 ms after the epoch.
var at = time.Date(2024, 1, 1, 0, 0, 0, 123e6, time.UTC)

// The ids come from an independent implementation.
var layouts = []struct {
	name   string
	layout xsnowflake.Layout
	id     xsnowflake.SnowflakeID
	want   xsnowflake.Info
}{
	{
		name: "default", layout: xsnowflake.LayoutDefault, id: 58102854968192777,
		want: xsnowflake.Info{Time: at, Gene: 16, DatacenterID: 5, NodeID: 3, Sequence: 777},
	},
	{
		name: "wide", layout: xsnowflake.LayoutWide, id: 58102854968197729,
		want: xsnowflake.Info{Time: at, Gene: 16, NodeID: 777, Sequence: 33},
	},
	{
		name: "java", layout: xsnowflake.LayoutJava, id: 58102854969895864,
		want: xsnowflake.Info{Time: at, DatacenterID: 21, NodeID: 10, Sequence: 3000},
	},
	{
		name: "java-gene", layout: xsnowflake.LayoutJavaGene, id: 116205709938984392,
		want: xsnowflake.Info{Time: at, Gene: 0x20, DatacenterID: 5, NodeID: 9, Sequence: 200},
	},
}

func TestLayout_Parse(t *testing.T) {
	t.Run("parses golden vectors", func(t *testing.T) {
		for _, tc := range layouts {
			t.Run(tc.name, func(t *testing.T) {
				if diff := cmp.Diff(tc.want, tc.layout.Parse(tc.id)); diff != "" {
					t.Errorf("Parse (-want +got):\n%s", diff)
				}
				if tc.layout.Name != tc.name {
					t.Errorf("name = %q", tc.layout.Name)
				}
			})
		}
	})

	t.Run("uses the epoch of the layout", func(t *testing.T) {
		l := xsnowflake.LayoutJava
		l.Epoch = 0
		got, want := l.Parse(58102854969895864).Time, time.UnixMilli(13852800123).UTC()
		if !got.Equal(want) {
			t.Errorf("Time = %v, want %v", got, want)
		}
	})

	t.Run("accepts a negative number", func(t *testing.T) {
		for _, tc := range layouts {
			info := tc.layout.Parse(-1)
			if info.NodeID < 0 || info.DatacenterID < 0 || info.Sequence < 0 ||
				info.Time.Before(tc.want.Time) {
				t.Errorf("%s: Parse(-1) = %+v", tc.name, info)
			}
		}
	})
}

func TestWithLayout(t *testing.T) {
	t.Run("generates ids of the layout", func(t *testing.T) {
		for _, tc := range layouts {
			t.Run(tc.name, func(t *testing.T) {
				n := newNode(t, xsnowflake.WithLayout(tc.layout),
					xsnowflake.WithClock(func() time.Time { return at }),
					xsnowflake.WithDatacenterID(tc.want.DatacenterID),
					xsnowflake.WithNodeID(tc.want.NodeID))
				ids := make([]xsnowflake.SnowflakeID, tc.want.Sequence+1)
				if err := n.NextN(ids, tc.want.Gene); err != nil {
					t.Fatal(err)
				}
				if got := ids[tc.want.Sequence]; got != tc.id {
					t.Errorf("id = %d, want %d", got, tc.id)
				}
			})
		}
	})

	t.Run("ignores genes if the layout has none", func(t *testing.T) {
		n := newNode(t, xsnowflake.WithLayout(xsnowflake.LayoutJava))
		for _, g := range []xsnowflake.Gene{0, xsnowflake.GeneUser, 255} {
			if _, err := n.Generate(g); err != nil {
				t.Errorf("Generate(%v): %v", g, err)
			}
		}
	})
}

func TestInfo_VerifyKey(t *testing.T) {
	info := xsnowflake.LayoutJavaGene.Parse(116205709938984392)
	if !info.VerifyKey("user:1") || info.VerifyKey("user:2") {
		t.Error("VerifyKey does not distinguish the keys")
	}
}

func ExampleLayout_Parse() {
	info := xsnowflake.LayoutJavaGene.Parse(116205709938984392)
	fmt.Println(info.Time.Format(time.RFC3339), info.NodeID, info.DatacenterID, info.Sequence,
		info.VerifyKey("user:1"))
	// Output: 2024-01-01T00:00:00Z 9 5 200 true
}

func TestLayoutNamed(t *testing.T) {
	for _, tc := range []struct {
		name  string
		nodes int
		end   string
	}{
		{name: "default", nodes: 64, end: "2093-03-30"},
		{name: "wide", nodes: 1024, end: "2093-03-30"},
		{name: "java", nodes: 1024, end: "2093-03-30"},
		{name: "java-gene", nodes: 128, end: "2058-05-27"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := xsnowflake.LayoutNamed(tc.name)
			if err != nil {
				t.Fatal(err)
			}
			if n := xsnowflake.Nodes(l); n != tc.nodes {
				t.Errorf("%d nodes, want %d", n, tc.nodes)
			}
			if got := xsnowflake.End(l).Format(time.DateOnly); got != tc.end {
				t.Errorf("last day of the layout = %s, want %s", got, tc.end)
			}
		})
	}
	if _, err := xsnowflake.LayoutNamed("huge"); err == nil ||
		!strings.Contains(err.Error(), "SNOWFLAKE_LAYOUT") {
		t.Errorf("error = %v, want the variable name", err)
	}
}

func TestFromEnv_Layout(t *testing.T) {
	t.Setenv("SNOWFLAKE_LAYOUT", "wide")
	t.Setenv("SNOWFLAKE_NODE_ID", "1000")
	n, err := xsnowflake.FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()
	if info := xsnowflake.LayoutWide.Parse(n.MustGenerate()); n.Layout().Name != "wide" ||
		info.NodeID != 1000 {
		t.Errorf("layout %s, node %d; want wide and 1000", n.Layout().Name, info.NodeID)
	}
	t.Setenv("SNOWFLAKE_LAYOUT", "default")
	if _, err := xsnowflake.FromEnv(); err == nil {
		t.Error("no error for node ID 1000 in the default layout")
	}
}
