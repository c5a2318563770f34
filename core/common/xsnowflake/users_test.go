//go:build unix

package xsnowflake_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// On Linux, the kernel may refuse to open a file of another user with O_CREATE in a
// directory like /tmp.
func TestFromEnv_DefaultDirectory_Users(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	dir, err := os.MkdirTemp("", "xsnowflake-users-") //nolint:usetesting // another user cannot enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o1777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "test")
	copyFile(t, os.Args[0], binary)
	t.Setenv("TMPDIR", dir)

	// Nodes hold all slots but one. The files of the free slot belong to root.
	var nodes []*xsnowflake.Node
	for range 64 {
		n, err := leasedNode(t)
		if err != nil {
			t.Fatal(err)
		}
		n.MustGenerate()
		nodes = append(nodes, n)
	}
	want := nodes[0].DatacenterID()*8 + nodes[0].NodeID()
	if err := nodes[0].Close(); err != nil {
		t.Fatal(err)
	}

	p := prepare(t, "TMPDIR="+dir)
	p.cmd.Path = binary
	p.cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: 65534, Gid: 65534},
	}
	if err := p.run(t); err != nil {
		t.Fatal(err)
	}
	if p.slot != want {
		t.Errorf("slot of the other user = %d, want the free slot %d", p.slot, want)
	}
	p.request(10)
	p.ids(t, 10)

	p = prepare(t, "TMPDIR="+dir)
	p.cmd.Path = binary
	p.cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: 65533, Gid: 65533},
	}
	if err := p.run(t); err == nil || !strings.Contains(err.Error(), "all 64 are held") {
		t.Errorf("third user: %v, want an error that all slots are held", err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
