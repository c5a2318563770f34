package xsnowflake_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

func TestFromEnv(t *testing.T) {
	t.Run("uses the configured IDs", func(t *testing.T) {
		t.Setenv("SNOWFLAKE_LEASE_DIR", t.TempDir())
		for _, tc := range []struct {
			name, dc, node   string
			wantDC, wantNode int
		}{
			{name: "both", dc: "4", node: "7", wantDC: 4, wantNode: 7},
			{name: "node ID only, in datacenter 0", node: "7", wantNode: 7},
			{name: "zero", dc: "0", node: "0"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Setenv(xenv.SnowflakeDatacenterID.String(), tc.dc)
				t.Setenv(xenv.SnowflakeNodeID.String(), tc.node)
				n, err := xsnowflake.FromEnv()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = n.Close() }()
				if n.DatacenterID() != tc.wantDC || n.NodeID() != tc.wantNode {
					t.Errorf("datacenter, node = %d, %d, want %d, %d",
						n.DatacenterID(), n.NodeID(), tc.wantDC, tc.wantNode)
				}
				if n.Source() != "a configured node ID" {
					t.Errorf("source = %q, want a configured node ID", n.Source())
				}
			})
		}
	})

	t.Run("reports every invalid ID", func(t *testing.T) {
		for _, tc := range []struct {
			name, dc, node string
			want           []string
		}{
			{
				name: "not integers", dc: "a", node: "1.5",
				want: []string{
					`SNOWFLAKE_DATACENTER_ID: "a" is not an integer`,
					`SNOWFLAKE_NODE_ID: "1.5" is not an integer`, "(accepted: an integer)",
				},
			},
			{
				name: "out of range", dc: "8", node: "99",
				want: []string{
					`SNOWFLAKE_DATACENTER_ID: "8" is out of range`,
					`SNOWFLAKE_NODE_ID: "99" is out of range`, "(accepted: 0 to 7)",
				},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Setenv(xenv.SnowflakeDatacenterID.String(), tc.dc)
				t.Setenv(xenv.SnowflakeNodeID.String(), tc.node)
				_, err := xsnowflake.FromEnv()
				if err == nil {
					t.Fatal("no error")
				}
				for _, want := range tc.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q does not contain %q", err, want)
					}
				}
			})
		}
	})

	t.Run("leases a node ID if none is set", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("SNOWFLAKE_LEASE_DIR", dir)
		t.Setenv(xenv.SnowflakeDatacenterID.String(), "3")
		t.Setenv(xenv.SnowflakeNodeID.String(), "")
		seen := map[int]bool{}
		for range 8 {
			n, err := xsnowflake.FromEnv()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = n.Close() }()
			if err := n.Lease(t.Context()); err != nil {
				t.Fatal(err)
			}
			if want := "a lease in " + dir + " (scope: host)"; n.Source() != want ||
				!n.HostLocal() {
				t.Errorf("source = %q, host local %t; want %q and true",
					n.Source(), n.HostLocal(), want)
			}
			if n.DatacenterID() != 3 || seen[n.NodeID()] {
				t.Errorf("datacenter, node = %d, %d, want 3 and a new node ID",
					n.DatacenterID(), n.NodeID())
			}
			seen[n.NodeID()] = true
		}
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{next: 2}
			n, err := xsnowflake.FromEnv(leases(s), bubbleEpoch())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = n.Close() }()
			n.MustGenerate()
			if leases, _, _ := s.counts(); leases != 1 || n.NodeID() != 2 || n.HostLocal() {
				t.Errorf("node %d after %d leases, want the node ID of WithLeases",
					n.NodeID(), leases)
			}
		})
	})
}
