package snippets_test

import (
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/common/xutil"
)

// javaLayout returns the layout of the Java service's IDs.
func javaLayout() xsnowflake.Layout {
	layout := xsnowflake.LayoutJava
	layout.Epoch = 1577836800000 // the epoch of the Java service, in Unix milliseconds
	return layout
}

func TestJavaID(t *testing.T) {
	t.Parallel()

	t.Run("is generated and parsed with the Java layout", func(t *testing.T) {
		t.Parallel()
		node, err := xsnowflake.NewNode(
			xsnowflake.WithLayout(javaLayout()), xsnowflake.WithDatacenterID(31),
			xsnowflake.WithNodeID(7),
		)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := node.Close(); err != nil {
				t.Error(err)
			}
		}()
		id, err := node.Generate()
		if err != nil {
			t.Fatal(err)
		}
		info := javaLayout().Parse(id)
		if info.DatacenterID != 31 || info.NodeID != 7 || time.Since(info.Time) > time.Minute {
			t.Errorf("Parse = %+v", info)
		}
		id, err = node.Generate(xsnowflake.GeneUser)
		if info := javaLayout().Parse(id); err != nil || info.Gene != 0 || info.NodeID != 7 {
			t.Errorf("Generate(GeneUser) = %+v, %v, want an ID without a gene", info, err)
		}
	})

	t.Run("has a gene that matches its key", func(t *testing.T) {
		t.Parallel()
		node, err := xsnowflake.NewNode(
			xsnowflake.WithLayout(xsnowflake.LayoutJavaGene), xsnowflake.WithDatacenterID(1),
			xsnowflake.WithNodeID(2),
		)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := node.Close(); err != nil {
				t.Error(err)
			}
		}()
		id, err := node.Generate(xsnowflake.KeyGene("customer-42"))
		if err != nil {
			t.Fatal(err)
		}
		info := xsnowflake.LayoutJavaGene.Parse(id)
		if !info.VerifyKey("customer-42") || info.VerifyKey("customer-43") {
			t.Errorf("gene %d does not match the key", info.Gene)
		}
	})

	t.Run("has different node IDs in replicas", func(t *testing.T) {
		t.Parallel()
		leases := xlease.New(xlease.InDirectory(t.TempDir()))
		t.Cleanup(func() { _ = leases.Close() })
		used := map[int]bool{}
		for range 2 {
			node, err := xsnowflake.NewNode(
				xsnowflake.WithLayout(javaLayout()), xsnowflake.WithDatacenterID(31),
				xsnowflake.WithLeases(leases, time.Minute),
			)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := node.Close(); err != nil {
					t.Error(err)
				}
			}()
			info := javaLayout().Parse(node.MustGenerate())
			if info.DatacenterID != 31 || used[info.NodeID] {
				t.Errorf("Parse = %+v, want datacenter 31 and a node other than %v", info, used)
			}
			used[info.NodeID] = true
		}
	})
}

func TestJavaUUID(t *testing.T) {
	t.Parallel()
	id := xutil.UUID().FromBytes([]byte("hello")) // UUID.nameUUIDFromBytes
	if want := "5d41402a-bc4b-3a76-b971-9d911017c592"; id != want {
		t.Errorf("FromBytes = %s, want %s", id, want)
	}
}
