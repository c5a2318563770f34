package xsnowflake_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// fileNode leases one of 8 nodes.
func fileNode(t *testing.T, dir string, opts ...xsnowflake.Option) (*xsnowflake.Node, error) {
	t.Helper()
	n, err := xsnowflake.NewNode(append([]xsnowflake.Option{
		xsnowflake.WithLeaser(xsnowflake.FileLeaser(dir)), xsnowflake.WithDatacenterID(0),
	}, opts...)...)
	if err == nil {
		t.Cleanup(func() { _ = n.Close() })
	}
	return n, err
}

// lockAllBut takes all slots of datacenter 0 but the given number.
func lockAllBut(t *testing.T, dir string, free int) []*xsnowflake.Node {
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

func TestNodesOfOneHostGetDifferentNumbers(t *testing.T) {
	seen := map[int]bool{}
	for _, n := range lockAllBut(t, t.TempDir(), 0) {
		if seen[n.NodeID()] {
			t.Errorf("node %d came twice", n.NodeID())
		}
		seen[n.NodeID()] = true
	}
}

func TestClosingANodeFreesItsNumber(t *testing.T) {
	dir := t.TempDir()
	nodes := lockAllBut(t, dir, 0)
	if _, err := fileNode(t, dir); !errors.Is(err, xsnowflake.ErrNoSlot) {
		t.Fatalf("the ninth node: %v, want ErrNoSlot", err)
	}
	want := nodes[5].NodeID()
	if err := nodes[5].Close(); err != nil {
		t.Fatal(err)
	}
	n, err := fileNode(t, dir)
	if err != nil || n.NodeID() != want {
		t.Errorf("node = %v, %v, want the one that was closed, %d", n, err, want)
	}
}

// A process is killed, the clock is set back, and the only free slot is the one that it had.
func TestARestartWithAClockSetBackRepeatsNoID(t *testing.T) {
	for _, back := range []time.Duration{0, time.Second, 10 * time.Second} {
		t.Run(back.String(), func(t *testing.T) {
			dir := t.TempDir()
			lockAllBut(t, dir, 1)
			p, err := start(t, xenv.SnowflakeLeaseDir.String()+"="+dir, xenv.SnowflakeDatacenterID.String()+"=0")
			if err != nil {
				t.Fatal(err)
			}
			p.ask(3000)
			ids := p.ids(t, 3000)
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()

			clock := &manual{now: time.Now().Add(-back)}
			n, err := fileNode(t, dir, xsnowflake.WithClock(clock.Now))
			if back > xsnowflake.DefaultMaxBackward {
				if !errors.Is(err, xsnowflake.ErrClockBackward) {
					t.Errorf("NewNode = %v, want ErrClockBackward", err)
				}
				return
			}
			if err != nil || n.NodeID() != p.slot {
				t.Fatalf("NewNode = %v, want slot %d", err, p.slot)
			}
			distinct(t, append(ids, generate(t, n, 1000)...))
		})
	}
}

func TestASlotWithAMarkInTheFutureIsTheLastChoice(t *testing.T) {
	dir := t.TempDir()
	future := time.Now().Add(2 * time.Second).UnixMilli()
	for slot := range 8 {
		if slot != 6 {
			mark(t, dir, slot, strconv.FormatInt(future+int64(slot), 10))
		}
	}
	for _, want := range []int{6, 0, 1} {
		n, err := fileNode(t, dir)
		if err != nil || n.NodeID() != want {
			t.Fatalf("node = %v, %v, want %d", n, err, want)
		}
	}
}

func mark(t *testing.T, dir string, slot int, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("slot-%02d.mark", slot)), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheMarkIsAheadOfTheIDsAndRewrittenAtClose(t *testing.T) {
	dir := t.TempDir()
	lockAllBut(t, dir, 1)
	clock := &manual{now: time.Now()}
	n, err := fileNode(t, dir, xsnowflake.WithClock(clock.Now))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("slot-%02d.mark", n.NodeID()))
	read := func() time.Time {
		data, _ := os.ReadFile(path)
		ms, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		return time.UnixMilli(ms)
	}
	for range 10 {
		id := n.MustGenerate()
		if m := read(); !m.After(id.Time()) || m.Sub(id.Time()) > xsnowflake.RecordAhead {
			t.Errorf("the mark is %v ahead, want up to %v", m.Sub(id.Time()), xsnowflake.RecordAhead)
		}
		clock.Add(700 * time.Millisecond)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if ahead := read().Sub(clock.Now()); ahead > time.Millisecond {
		t.Errorf("after Close the mark is %v ahead, want at most 1ms", ahead)
	}
	if last := clock.Now().Add(-700 * time.Millisecond); !read().After(last) {
		t.Errorf("after Close the mark is %v, not after the last id, %v", read(), last)
	}
}

func TestANodeThatMadeNoIDsKeepsTheMarkOfItsSlot(t *testing.T) {
	dir := t.TempDir()
	lockAllBut(t, dir, 1)
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
	data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("slot-%02d.mark", slot)))
	if ms, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err != nil || ms <= former.UnixMilli() {
		t.Errorf("the mark is %d, %v, want one after the former holder's last id, %d", ms, err, former.UnixMilli())
	}
}

// What cleans temporary folders removes files that are in use.
func TestARemovedLockFileCostsTheSlotAndRepeatsNothing(t *testing.T) {
	for _, suffix := range []string{"lock", "mark"} {
		t.Run(suffix, func(t *testing.T) {
			dir := t.TempDir()
			clock := &manual{now: time.Now()}
			n, err := fileNode(t, dir, xsnowflake.WithClock(clock.Now))
			if err != nil {
				t.Fatal(err)
			}
			ids := generate(t, n, 10)
			old := n.NodeID()
			if err := os.Remove(filepath.Join(dir, fmt.Sprintf("slot-%02d.%s", old, suffix))); err != nil {
				t.Fatal(err)
			}
			clock.Add(time.Minute)
			distinct(t, append(ids, generate(t, n, 10)...))
			others := lockAllBut(t, dir, 1)
			for _, o := range others {
				if o.NodeID() == n.NodeID() {
					t.Errorf("node %d is used twice", o.NodeID())
				}
			}
		})
	}
}

func TestLinksAndOtherFilesAreRefused(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	_, err := fileNode(t, filepath.Join(dir, "link"))
	if err == nil || !strings.Contains(err.Error(), "symbolic link") || !strings.Contains(err.Error(), "SNOWFLAKE_LEASE_DIR") {
		t.Errorf("a linked folder: %v, want an error that says so", err)
	}
	if _, err = fileNode(t, filepath.Join(dir, "file", "x")); err != nil {
		t.Errorf("a folder that does not exist yet: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = fileNode(t, filepath.Join(dir, "plain")); err == nil {
		t.Error("a file passes for a folder")
	}

	slots := t.TempDir()
	for slot := range 8 {
		if err := os.Symlink(filepath.Join(target, "x"), filepath.Join(slots, fmt.Sprintf("slot-%02d.mark", slot))); err != nil {
			t.Fatal(err)
		}
	}
	_, err = fileNode(t, slots)
	if !errors.Is(err, xsnowflake.ErrNoSlot) || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("linked marks: %v, want ErrNoSlot and the reason", err)
	}
	if left, _ := os.ReadDir(target); len(left) != 0 {
		t.Errorf("a link was followed: %v", left)
	}
}

func TestAMarkThatIsNoNumberIsNotIgnored(t *testing.T) {
	dir := t.TempDir()
	for slot := range 8 {
		mark(t, dir, slot, "tomorrow")
	}
	_, err := fileNode(t, dir)
	if !errors.Is(err, xsnowflake.ErrNoSlot) || !strings.Contains(err.Error(), "8 slots cannot be used") {
		t.Errorf("NewNode = %v, want ErrNoSlot and the reason", err)
	}
}

func TestTheDefaultFolderIsSharedByTheUsersOfTheHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	n, err := xsnowflake.NewNode()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()
	dir := filepath.Join(tmp, "plinth-snowflake")
	slot := fmt.Sprintf("slot-%02d", n.DatacenterID()*8+n.NodeID())
	for path, want := range map[string]os.FileMode{
		dir:                                os.ModeDir | os.ModeSticky | 0o777,
		filepath.Join(dir, slot+".lock"):   0o666,
		filepath.Join(dir, slot+".mark"):   0o666,
		filepath.Join(tmp, "nothing else"): 0,
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

// Containers share no folder: each sees free numbers only, and chooses one at random.
func TestFileLeaser_Containers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const starts, replicas = 300, 8
	for _, tc := range []struct {
		layout   xsnowflake.Layout
		from, to int // of starts in which two replicas have one number
	}{
		{layout: xsnowflake.LayoutDefault, from: 70, to: 155}, // 37 % are expected
		{layout: xsnowflake.LayoutWide, from: 0, to: 30},      // 3 %
	} {
		t.Run(tc.layout.Name, func(t *testing.T) {
			count := 1
			for _, f := range tc.layout.Fields {
				if f.Part == xsnowflake.PartDatacenter || f.Part == xsnowflake.PartNode {
					count <<= f.Bits
				}
			}
			folders := make([]xsnowflake.Leaser, replicas)
			for i := range folders {
				folders[i] = xsnowflake.FileLeaser(filepath.Join(t.TempDir(), "leases"))
			}
			collisions := 0
			for range starts {
				taken := map[int]bool{}
				for _, folder := range folders {
					lease, err := folder.Lease(t.Context(), 0, count)
					if err != nil {
						t.Fatal(err)
					}
					taken[lease.Slot()] = true
					if err := lease.Release(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if len(taken) < replicas {
					collisions++
				}
			}
			if t.Logf("two of %d replicas have one number in %d of %d starts", replicas, collisions, starts); collisions < tc.from || collisions > tc.to {
				t.Errorf("want %d to %d", tc.from, tc.to)
			}
		})
	}
}
