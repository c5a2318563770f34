package leasetest

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// childVariable makes a test binary play a process that makes ids.
const childVariable xenv.EnvKey = "PLINTH_LEASETEST_CHILD"

// role is what a child is to be.
type role struct {
	Address string
	TTL     time.Duration
	File    string // gets the ids, eight bytes each

	First, Count int           // the only numbers that it asks for; Count 0 is all
	Datacenter   *int          // of the node, where it has one
	Clock        time.Duration // how far its clock is ahead
	Wait         bool          // for a number, where all are held
	Hold         bool          // until it is told to go
}

// Child is called first in the TestMain of a package that calls Nodes. In a process that
// Nodes has started it opens the backend by the address in NodesHarness, makes ids as it
// is told, and exits; else it returns. done closes the backend.
func Child(open func(address string) (b driver.Backend, done func(), err error)) {
	text, ok := xenv.GetEnv(childVariable)
	if !ok {
		return
	}
	c := &child{in: bufio.NewScanner(os.Stdin)}
	if err := json.Unmarshal([]byte(text), &c.role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := c.live(open); err != nil {
		c.say("error " + strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
	os.Exit(0)
}

// child is the process.
type child struct {
	role
	in   *bufio.Scanner
	node *xsnowflake.Node
	file *os.File
	step atomic.Int64 // of its clock

	stop, stopped chan struct{}
	gene          int
	made, failed  int
	failure       error
}

// answer begins what a child says to its parent. Its log writes to the standard output
// too.
const answer = "leasetest child: "

func (*child) say(line string) { _, _ = io.WriteString(os.Stdout, answer+line+"\n") }

func (c *child) now() time.Time { return time.Now().Add(time.Duration(c.step.Load())) }

// live is the whole life of a child.
func (c *child) live(
	open func(address string) (b driver.Backend, done func(), err error),
) (err error) {
	b, done, err := open(c.Address)
	if err != nil {
		return err
	}
	defer done()
	if c.file, err = os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.file.Close()) }()
	if c.Hold {
		c.say("holding")
		c.in.Scan()
	}
	if c.Count > 0 {
		b = nodeIDs{Backend: b, first: c.First, count: c.Count}
	}
	leases := xlease.New(b)
	if err := c.birth(leases); err != nil {
		return err
	}
	c.say("ready " + strconv.Itoa(c.slot()) + " " + leases.Capabilities().Name)
	for c.in.Scan() {
		verb, number, _ := strings.Cut(c.in.Text(), " ")
		n, _ := strconv.Atoi(number)
		c.say(c.obey(verb, n))
	}
	return errors.Join(c.node.Close(), leases.Close())
}

// birth makes the node.
func (c *child) birth(leases *xlease.Leases) error {
	c.step.Store(int64(c.Clock))
	opts := []xsnowflake.Option{xsnowflake.WithLeases(leases, c.TTL), xsnowflake.WithClock(c.now)}
	if c.Datacenter != nil {
		opts = append(opts, xsnowflake.WithDatacenterID(*c.Datacenter))
	}
	for {
		node, err := xsnowflake.NewNode(opts...)
		if err != nil {
			return err
		}
		if err = node.Lease(context.Background()); err == nil || !c.Wait ||
			!errors.Is(err, xsnowflake.ErrNoSlot) {
			c.node = node
			return err
		}
		_ = node.Close() // it has no node ID
		pass(20 * time.Millisecond)
	}
}

func (c *child) slot() int { return c.node.DatacenterID()*8 + c.node.NodeID() }

// obey does what the parent says, and returns the answer.
func (c *child) obey(verb string, n int) string {
	switch verb {
	case "make":
		c.make(n)
		return c.tell()
	case "run":
		c.stop, c.stopped = make(chan struct{}), make(chan struct{})
		go c.run()
		return "running"
	case "stop":
		close(c.stop)
		<-c.stopped
		return c.tell()
	case "step":
		c.step.Add(int64(time.Duration(n) * time.Millisecond))
		return "stepped"
	default:
		return "what is " + verb + "?"
	}
}

// tell says what became of the last order, in numbers.
func (c *child) tell() string {
	text := "none"
	if c.failure != nil {
		text = strings.ReplaceAll(c.failure.Error(), "\n", "; ")
	}
	line := fmt.Sprintf("made %d %d %d %s", c.made, c.failed, c.slot(), text)
	c.made, c.failed, c.failure = 0, 0, nil
	return line
}

// chunk is how many ids are written at once: what a killed process had not written,
// nobody has seen.
const chunk = 4096

// batch is how many ids are asked for at a time, alternately with as many single ones.
const batch = 64

// make makes n ids of all genes in turn, and stops at the first failure.
func (c *child) make(n int) {
	var ids [chunk]xsnowflake.SnowflakeID
	buf := make([]byte, 0, 8*chunk)
	for n > 0 && c.failure == nil {
		got := c.fill(ids[:min(n, chunk)])
		buf = buf[:0]
		for _, id := range ids[:got] {
			buf = binary.NativeEndian.AppendUint64(buf, uint64(id)) // the same 64 bits
		}
		if _, err := c.file.Write(buf); err != nil {
			c.fail(err)
			return
		}
		c.made += got
		n -= got
	}
}

func (c *child) fail(err error) { c.failed, c.failure = c.failed+1, err }

// fill makes ids, and returns how many until the first failure.
func (c *child) fill(ids []xsnowflake.SnowflakeID) (got int) {
	for len(ids) > got {
		gene := xsnowflake.Gene(c.gene % 64) // below 64
		c.gene++
		part := ids[got:min(got+batch, len(ids))]
		if c.gene%2 == 0 {
			if err := c.node.NextN(part, gene); err != nil {
				c.fail(err)
				return got
			}
			got += len(part)
			continue
		}
		for i := range part {
			id, err := c.node.Generate(xsnowflake.Gene((c.gene + i) % 64)) // below 64
			if err != nil {
				c.fail(err)
				return got
			}
			part[i] = id
			got++
		}
	}
	return got
}

// run makes ids until it is told to stop, whatever fails meanwhile.
func (c *child) run() {
	defer close(c.stopped)
	failed, failure := 0, error(nil)
	for {
		c.make(256)
		if c.failure != nil {
			failed, failure, c.failure = failed+1, c.failure, nil
		}
		select {
		case <-c.stop:
			c.failed, c.failure = failed, failure
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// nodeIDs asks for some node IDs only.
type nodeIDs struct {
	driver.Backend
	first, count int
}

// Acquire implements driver.Backend.
func (n nodeIDs) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if r.Name == xsnowflake.LeaseName {
		r.First, r.Count = n.first, n.count
		r.Begin = r.First + r.Begin%r.Count
	}
	return n.Backend.Acquire(ctx, r)
}
