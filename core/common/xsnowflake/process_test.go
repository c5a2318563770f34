package xsnowflake_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// runNode creates a node from the environment and prints its slot. For every number on
// standard input it writes as many ids, eight bytes each. It returns at the end of the
// input.
func runNode(string) {
	n, err := xsnowflake.FromEnv()
	if err == nil {
		err = n.Lease(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	_, _ = fmt.Fprintln(out, n.DatacenterID()*8+n.NodeID())
	_ = out.Flush()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		count, _ := strconv.Atoi(in.Text())
		ids := make([]xsnowflake.SnowflakeID, count)
		for i := range ids {
			ids[i] = n.MustGenerate(xsnowflake.Gene(i & 1))
		}
		_ = binary.Write(out, binary.BigEndian, ids)
		_ = out.Flush()
	}
	_ = n.Close()
}

type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	slot   int
}

// prepare returns a process that runs the test binary. The caller may change it before
// run.
func prepare(t *testing.T, env ...string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.cmd.Env = append(os.Environ(), append(env, roleVariable.String()+"=node")...)
	p.cmd.Stderr = &p.stderr
	return p
}

// run starts the process and waits until it prints a slot or fails.
func (p *process) run(t *testing.T) error {
	t.Helper()
	p.in, _ = p.cmd.StdinPipe()
	out, _ := p.cmd.StdoutPipe()
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := p.out.ReadString('\n')
	slot, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		err := p.cmd.Wait()
		return fmt.Errorf("%w: %s", err, p.stderr.String())
	}
	p.slot = slot
	t.Cleanup(func() {
		_ = p.in.Close()
		_ = p.cmd.Wait()
	})
	return nil
}

func start(t *testing.T, env ...string) (*process, error) {
	t.Helper()
	p := prepare(t, env...)
	return p, p.run(t)
}

// request makes the process generate ids, which the caller can then read.
func (p *process) request(count int) { _, _ = fmt.Fprintln(p.in, count) }

func (p *process) ids(t *testing.T, count int) []xsnowflake.SnowflakeID {
	t.Helper()
	ids := make([]xsnowflake.SnowflakeID, count)
	if err := binary.Read(p.out, binary.BigEndian, ids); err != nil {
		t.Fatalf("reading ids: %v; %s", err, p.stderr.String())
	}
	return ids
}

func dirEnv(t *testing.T) string {
	t.Helper()
	return "SNOWFLAKE_LEASE_DIR=" + t.TempDir()
}

func TestNode_Processes(t *testing.T) {
	t.Run("generate distinct ids", func(t *testing.T) {
		if testing.Short() {
			t.Skip("starts processes")
		}
		const processes, each = 16, 50_000
		env := "TMPDIR=" + t.TempDir() // the default directory, in a temporary directory
		var all []*process
		for range processes {
			p, err := start(t, env)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		for _, p := range all {
			p.request(each)
		}
		slots := map[int]bool{}
		var ids []xsnowflake.SnowflakeID
		for _, p := range all {
			if slots[p.slot] {
				t.Errorf("slot %d is used twice", p.slot)
			}
			slots[p.slot] = true
			ids = append(ids, p.ids(t, each)...)
		}
		checkDistinct(t, ids)
	})

	t.Run("reuse the slot of a killed process without repeating ids", func(t *testing.T) {
		if testing.Short() {
			t.Skip("starts processes")
		}
		dir := dirEnv(t)
		env := []string{dir, xenv.SnowflakeDatacenterID.String() + "=2"} // 8 slots
		var all []*process
		var ids []xsnowflake.SnowflakeID
		for range 8 {
			p, err := start(t, env...)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		killed := all[3]
		killed.request(5000)
		ids = append(ids, killed.ids(t, 5000)...)
		_ = killed.cmd.Process.Kill()
		_ = killed.cmd.Wait()

		p, err := start(t, env...)
		if err != nil {
			t.Fatal(err)
		}
		if p.slot != killed.slot {
			t.Errorf("slot = %d, want the slot %d of the killed process", p.slot, killed.slot)
		}
		p.request(5000)
		checkDistinct(t, append(ids, p.ids(t, 5000)...))
	})

	t.Run("report that all node IDs are held", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("SNOWFLAKE_LEASE_DIR", dir)
		for range 64 {
			n, err := xsnowflake.FromEnv()
			if err == nil {
				t.Cleanup(func() { _ = n.Close() })
				err = n.Lease(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := start(t, "SNOWFLAKE_LEASE_DIR="+dir)
		if err == nil {
			t.Fatal("the 65th process leased a node ID")
		}
		want := "xsnowflake: every node ID is held: all 64 are held in " + dir +
			" (scope: host): stop one, set SNOWFLAKE_DATACENTER_ID and SNOWFLAKE_NODE_ID, " +
			"or set SNOWFLAKE_LAYOUT=wide for all replicas, which has 1024"
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %q, want %q", err, want)
		}
	})
}
