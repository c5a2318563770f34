package xsnowflake_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

func fileNode(t *testing.T, dir string, opts ...xsnowflake.Option) (*xsnowflake.Node, error) {
	t.Helper()
	t.Setenv("SNOWFLAKE_LEASE_DIR", dir)
	n, err := xsnowflake.FromEnv(append([]xsnowflake.Option{xsnowflake.WithDatacenterID(0)},
		opts...)...)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = n.Close() })
	return n, n.Lease(t.Context())
}

// leaseAllBut leases all slots of datacenter 0, except the given number of slots.
func leaseAllBut(t *testing.T, dir string, free int) []*xsnowflake.Node {
	t.Helper()
	var nodes []*xsnowflake.Node
	for range 8 - free {
		n, err := fileNode(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func TestNode_LeaseDirectory(t *testing.T) {
	t.Run("assigns different node IDs", func(t *testing.T) {
		seen := map[int]bool{}
		for _, n := range leaseAllBut(t, t.TempDir(), 0) {
			if seen[n.NodeID()] {
				t.Errorf("node %d is used twice", n.NodeID())
			}
			seen[n.NodeID()] = true
		}
	})

	t.Run("frees the node ID of a closed node", func(t *testing.T) {
		dir := t.TempDir()
		nodes := leaseAllBut(t, dir, 0)
		if _, err := fileNode(t, dir); !errors.Is(err, xsnowflake.ErrNoSlot) {
			t.Fatalf("ninth node: %v, want ErrNoSlot", err)
		}
		want := nodes[5].NodeID()
		if err := nodes[5].Close(); err != nil {
			t.Fatal(err)
		}
		n, err := fileNode(t, dir)
		if err != nil || n.NodeID() != want {
			t.Errorf("node = %v, %v, want the node ID %d of the closed node", n, err, want)
		}
	})

	// A process is killed, the clock is set back, and only the slot of that process is
	// free.
	t.Run("repeats no id after a restart with a clock set back", func(t *testing.T) {
		for _, back := range []time.Duration{0, time.Second, 10 * time.Second} {
			t.Run(back.String(), func(t *testing.T) {
				dir := t.TempDir()
				leaseAllBut(t, dir, 1)
				p, err := start(t, "SNOWFLAKE_LEASE_DIR="+dir,
					xenv.SnowflakeDatacenterID.String()+"=0")
				if err != nil {
					t.Fatal(err)
				}
				p.request(3000)
				ids := p.ids(t, 3000)
				_ = p.cmd.Process.Kill()
				_ = p.cmd.Wait()

				clock := &manualClock{now: time.Now().Add(-back)}
				n, err := fileNode(t, dir, xsnowflake.WithClock(clock.Now))
				if back > xsnowflake.MaxBackward {
					if !errors.Is(err, xsnowflake.ErrClock) {
						t.Errorf("NewNode = %v, want ErrClock", err)
					}
					return
				}
				if err != nil || n.NodeID() != p.slot {
					t.Fatalf("NewNode = %v, want slot %d", err, p.slot)
				}
				checkDistinct(t, append(ids, generate(t, n, 1000)...))
			})
		}
	})

	t.Run("prefers slots without a future mark", func(t *testing.T) {
		dir := t.TempDir()
		future := time.Now().Add(2 * time.Second).UnixMilli()
		for slot := range 8 {
			if slot != 6 {
				mark(t, dir, slot, future+int64(slot))
			}
		}
		for _, want := range []int{6, 0, 1} {
			n, err := fileNode(t, dir)
			if err != nil || n.NodeID() != want {
				t.Fatalf("node = %v, %v, want %d", n, err, want)
			}
		}
	})
}

// mark stores a mark in a free slot.
func mark(t *testing.T, dir string, slot int, mark int64) {
	t.Helper()
	leases := xlease.New(xlease.InDirectory(dir))
	lease, err := leases.Lease(t.Context(), xsnowflake.LeaseName, ttl, xlease.WithSlots(slot, 1),
		xlease.WithMark(mark, 0))
	if err := errors.Join(err, lease.Release(t.Context()), leases.Close()); err != nil {
		t.Fatal(err)
	}
}

// readMark reads the mark of a slot, even if the slot is held.
func readMark(t *testing.T, dir string, slot int) time.Time {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, xsnowflake.LeaseName+".records"))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(data[256*(slot+1) : 256*(slot+2)]))
	ms, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.UnixMilli(ms)
}

func TestNode_LeaseDirectory_Mark(t *testing.T) {
	t.Run("is ahead of the ids and rewritten by Close", func(t *testing.T) {
		dir := t.TempDir()
		leaseAllBut(t, dir, 1)
		clock := &manualClock{now: time.Now()}
		n, err := fileNode(t, dir, xsnowflake.WithClock(clock.Now))
		if err != nil {
			t.Fatal(err)
		}
		slot := n.NodeID()
		read := func() time.Time { return readMark(t, dir, slot) }
		for range 10 {
			id := n.MustGenerate()
			if m := read(); !m.After(id.Time()) || m.Sub(id.Time()) > xsnowflake.RecordAhead {
				t.Errorf("mark is %v ahead, want up to %v",
					m.Sub(id.Time()), xsnowflake.RecordAhead)
			}
			clock.Add(700 * time.Millisecond)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if ahead := read().Sub(clock.Now()); ahead > time.Millisecond {
			t.Errorf("mark after Close is %v ahead, want at most 1ms", ahead)
		}
		if last := clock.Now().Add(-700 * time.Millisecond); !read().After(last) {
			t.Errorf("mark after Close = %v, want it after the last id, %v", read(), last)
		}
	})

	t.Run("is unchanged if the node generated no ids", func(t *testing.T) {
		dir := t.TempDir()
		leaseAllBut(t, dir, 1)
		n, err := fileNode(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		slot := n.NodeID()
		former := n.MustGenerate().Time()
		for range 2 {
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			if n, err = fileNode(t, dir); err != nil {
				t.Fatal(err)
			}
			if err := n.CheckHealth(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if m := readMark(t, dir, slot); !m.After(former) {
			t.Errorf("mark = %v, want it after the last id of the former holder, %v", m, former)
		}
	})
}

func TestNode_LeaseDirectory_Files(t *testing.T) {
	// Cleaners of temporary directories remove files that are in use.
	t.Run("repeats no id after files are removed", func(t *testing.T) {
		for _, pattern := range []string{"*.records", "*.alive", "*.lock", "*"} {
			t.Run(pattern, func(t *testing.T) {
				dir := t.TempDir()
				clock := &manualClock{now: time.Now()}
				n, err := fileNode(t, dir, xsnowflake.WithClock(clock.Now))
				if err != nil {
					t.Fatal(err)
				}
				ids := generate(t, n, 10)
				files, _ := filepath.Glob(filepath.Join(dir, pattern))
				for _, file := range files {
					if err := os.Remove(file); err != nil {
						t.Fatal(err)
					}
				}
				if len(files) == 0 {
					t.Fatalf("no file matches %s", pattern)
				}
				clock.Add(time.Minute)
				checkDistinct(t, append(ids, generate(t, n, 10)...))
				others := leaseAllBut(t, dir, 1)
				for _, o := range others {
					if o.NodeID() == n.NodeID() {
						t.Errorf("node %d is used twice", o.NodeID())
					}
				}
			})
		}
	})

	t.Run("rejects symbolic links", func(t *testing.T) {
		dir, target := t.TempDir(), t.TempDir()
		if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
			t.Skip("symbolic links are not supported:", err)
		}
		_, err := fileNode(t, filepath.Join(dir, "link"))
		if err == nil || !strings.Contains(err.Error(), "symbolic link") ||
			!strings.Contains(err.Error(), "SNOWFLAKE_LEASE_DIR") {
			t.Errorf("linked directory: %v, want an error about the symbolic link", err)
		}
		if _, err = fileNode(t, filepath.Join(dir, "file", "x")); err != nil {
			t.Errorf("missing directory: %v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err = fileNode(t, filepath.Join(dir, "plain")); err == nil {
			t.Error("no error for a file as directory")
		}
		for _, name := range []string{"folder.lock", xsnowflake.LeaseName + ".records"} {
			dir := t.TempDir()
			if err := os.Symlink(filepath.Join(target, "x"), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if _, err = fileNode(t, dir); err == nil ||
				!strings.Contains(err.Error(), "is not a regular file") {
				t.Errorf("linked %s: %v, want an error", name, err)
			}
		}
		if left, _ := os.ReadDir(target); len(left) != 0 {
			t.Errorf("files in the link target: %v", left)
		}
	})

	t.Run("rejects damaged records", func(t *testing.T) {
		dir := t.TempDir()
		for slot := range 8 {
			mark(t, dir, slot, 1)
		}
		path := filepath.Join(dir, xsnowflake.LeaseName+".records")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for slot := range 8 {
			copy(data[256*(slot+1):], "tomorrow")
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := fileNode(t, dir); err == nil ||
			!strings.Contains(err.Error(), path+" is not a record") {
			t.Errorf("Lease = %v, want an error with the file", err)
		}
	})
}

func TestFromEnv_DefaultDirectory_Permissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	if _, err := leasedNode(t); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(tmp, "plinth-snowflake")
	alive, err := filepath.Glob(filepath.Join(dir, "*.alive"))
	if err != nil || len(alive) != 1 {
		t.Fatalf("alive files = %v, %v; want one", alive, err)
	}
	for path, want := range map[string]os.FileMode{
		dir:                                     os.ModeDir | os.ModeSticky | 0o777,
		filepath.Join(dir, "folder.lock"):       0o666,
		filepath.Join(dir, "snowflake.records"): 0o666,
		alive[0]:                                0o666,
		filepath.Join(tmp, "nothing else"):      0,
	} {
		info, err := os.Lstat(path)
		if want == 0 {
			if err == nil {
				t.Errorf("%s exists", path)
			}
			continue
		}
		if err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

// Containers do not share a directory. In each container all slots are free, and the node
// chooses one at random.
func TestInDirectory_Containers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const starts, replicas = 300, 8
	for _, tc := range []struct {
		layout   xsnowflake.Layout
		from, to int // starts in which two replicas have the same node ID
	}{
		{layout: xsnowflake.LayoutDefault, from: 70, to: 155}, // 37 % are expected
		{layout: xsnowflake.LayoutWide, from: 0, to: 30},      // 3 % are expected
	} {
		t.Run(tc.layout.Name, func(t *testing.T) {
			count := xsnowflake.Nodes(tc.layout)
			backends := make([]*xlease.Leases, replicas)
			for i := range backends {
				backends[i] = xlease.New(xlease.InDirectory(filepath.Join(t.TempDir(), "leases")))
				t.Cleanup(func() { _ = backends[i].Close() })
			}
			collisions := 0
			for range starts {
				used := map[int]bool{}
				for _, folder := range backends {
					lease, err := folder.Lease(t.Context(), xsnowflake.LeaseName, ttl,
						xlease.WithSlots(0, count), xlease.WithManualRenewal())
					if err != nil {
						t.Fatal(err)
					}
					used[lease.Slot()] = true
					if err := lease.Release(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if len(used) < replicas {
					collisions++
				}
			}
			if collisions < tc.from || collisions > tc.to {
				t.Errorf("two of %d replicas have equal node IDs in %d of %d starts, want %d to %d",
					replicas, collisions, starts, tc.from, tc.to)
			}
		})
	}
}
