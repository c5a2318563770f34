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

// childVariable makes a test binary a child process that generates IDs.
const childVariable xenv.EnvKey = "PLINTH_LEASETEST_CHILD"

// childConfig configures a child process.
type childConfig struct {
	Address string
	TTL     time.Duration
	File    string // receives the IDs, eight bytes each

	First, Count int           // limits the node IDs to acquire; Count 0 means all
	Datacenter   *int          // datacenter ID, optional
	Clock        time.Duration // offset of the clock
	Wait         bool          // waits for a node ID if all are held
	Hold         bool          // waits for a line of the parent before it acquires a node ID
}

// Child must be called first in the TestMain of a package that calls Nodes. In a child
// process of Nodes it opens the backend at NodesHarness.Address, generates IDs and exits;
// otherwise it returns. The function done closes the backend.
func Child(open func(address string) (b driver.Backend, done func(), err error)) {
	text, ok := xenv.GetEnv(childVariable)
	if !ok {
		return
	}
	c := &child{in: bufio.NewScanner(os.Stdin)}
	if err := json.Unmarshal([]byte(text), &c.childConfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := c.run(open); err != nil {
		c.respond("error " + strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
	os.Exit(0)
}

// child is the state of a child process.
type child struct {
	childConfig
	in     *bufio.Scanner
	node   *xsnowflake.Node
	file   *os.File
	offset atomic.Int64 // of the clock

	stop, stopped     chan struct{}
	gene              int
	generated, failed int
	failure           error
}

// responsePrefix starts the lines of a child for its parent. The child also logs to the
// standard output.
const responsePrefix = "leasetest child: "

func (*child) respond(line string) { _, _ = io.WriteString(os.Stdout, responsePrefix+line+"\n") }

func (c *child) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// run runs the child until its input is closed.
func (c *child) run(
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
		c.respond("holding")
		c.in.Scan()
	}
	if c.Count > 0 {
		b = nodeIDs{Backend: b, first: c.First, count: c.Count}
	}
	leases := xlease.New(b)
	if err := c.newNode(leases); err != nil {
		return err
	}
	c.respond("ready " + strconv.Itoa(c.slot()) + " " + leases.Capabilities().Name)
	for c.in.Scan() {
		verb, number, _ := strings.Cut(c.in.Text(), " ")
		n, _ := strconv.Atoi(number)
		c.respond(c.execute(verb, n))
	}
	return errors.Join(c.node.Close(), leases.Close())
}

// newNode creates the node.
func (c *child) newNode(leases *xlease.Leases) error {
	c.offset.Store(int64(c.Clock))
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
		_ = node.Close() // has no node ID
		sleep(20 * time.Millisecond)
	}
}

func (c *child) slot() int { return c.node.DatacenterID()*8 + c.node.NodeID() }

// execute executes a command of the parent and returns the response.
func (c *child) execute(verb string, n int) string {
	switch verb {
	case "generate":
		c.generate(n)
		return c.result()
	case "run":
		c.stop, c.stopped = make(chan struct{}), make(chan struct{})
		go c.loop()
		return "running"
	case "stop":
		close(c.stop)
		<-c.stopped
		return c.result()
	case "clock":
		c.offset.Add(int64(time.Duration(n) * time.Millisecond))
		return "clock set"
	default:
		return "unknown command " + verb
	}
}

// result returns the result of the last command and resets it.
func (c *child) result() string {
	text := "none"
	if c.failure != nil {
		text = strings.ReplaceAll(c.failure.Error(), "\n", "; ")
	}
	line := fmt.Sprintf("generated %d %d %d %s", c.generated, c.failed, c.slot(), text)
	c.generated, c.failed, c.failure = 0, 0, nil
	return line
}

// chunk is the number of IDs per write. The IDs that a killed process did not write count
// as unused.
const chunk = 4096

// batch is the number of IDs per NextN call, which alternates with as many Generate
// calls.
const batch = 64

// generate generates n IDs with alternating genes, until the first error.
func (c *child) generate(n int) {
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
		c.generated += got
		n -= got
	}
}

func (c *child) fail(err error) { c.failed, c.failure = c.failed+1, err }

// fill fills ids and returns the number of IDs before the first error.
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

// loop generates IDs until it is stopped. It continues after errors.
func (c *child) loop() {
	defer close(c.stopped)
	failed, failure := 0, error(nil)
	for {
		c.generate(256)
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

// nodeIDs is a backend that restricts the node IDs.
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
