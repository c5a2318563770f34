package xdb_test

import (
	"context"
	sqldriver "database/sql/driver"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// cluster is a driver without servers: each DSN has its own fake server.
type cluster struct {
	fakeDriver

	mu      sync.Mutex
	servers map[string]*server
}

// server is a fake server that can be down.
type server struct {
	fakeDriver

	isDown     atomic.Bool
	hangs      atomic.Bool           // during a ping
	statements atomic.Int32          // number of statements
	failWith   atomic.Pointer[error] // the error of every statement
}

// at returns the server with this DSN.
func (c *cluster) at(dsn string) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.servers[dsn]
	if !ok {
		s = newServer()
		if c.servers == nil {
			c.servers = map[string]*server{}
		}
		c.servers[dsn] = s
	}
	return s
}

func newServer() *server {
	s := &server{}
	s.connect = func(context.Context, int) error {
		if s.isDown.Load() {
			return errRefused
		}
		return nil
	}
	s.ping = func(ctx context.Context) error {
		if s.hangs.Load() {
			<-ctx.Done()
			return ctx.Err()
		}
		if s.isDown.Load() {
			return sqldriver.ErrBadConn // makes database/sql reconnect
		}
		return nil
	}
	s.prepare = func() error {
		if s.isDown.Load() {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	s.query = func(context.Context, string) error {
		if s.isDown.Load() {
			return io.ErrUnexpectedEOF
		}
		s.statements.Add(1)
		if err := s.failWith.Load(); err != nil {
			return *err
		}
		return nil
	}
	return s
}

func (c *cluster) Dialector(dsn string) gorm.Dialector { return c.at(dsn).Dialector(dsn) }

const (
	primaryDSN = "fake://u:pa55word@primary/app"
	firstDSN   = "fake://u:pa55word@first/app"
	secondDSN  = "fake://u:pa55word@second/app"
)

// openCluster opens a primary with two replicas and closes them at the end of the test.
func openCluster(
	ctx context.Context, t *testing.T, c *cluster, change func(*xdb.Options),
) *gorm.DB {
	t.Helper()
	o := xdb.Options{Driver: "fake", DSN: primaryDSN, Replicas: []xlog.Secret{firstDSN, secondDSN}}
	if change != nil {
		change(&o)
	}
	db, err := registryOf(c).Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
		for dsn, s := range c.servers {
			if n := s.openConnections(); n != 0 {
				t.Errorf("open connections of %s = %d, want 0", dsn, n)
			}
		}
	})
	return db
}

// statements returns the number of statements of do on the primary and on replicas.
func (c *cluster) statements(do func()) (primary, replicas int) {
	before := [3]int32{
		c.at(primaryDSN).statements.Load(), c.at(firstDSN).statements.Load(),
		c.at(secondDSN).statements.Load(),
	}
	do()
	first := c.at(firstDSN).statements.Load() - before[1]
	second := c.at(secondDSN).statements.Load() - before[2]
	return int(c.at(primaryDSN).statements.Load() - before[0]), int(first + second)
}

type article struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
}

// errReadOnly is the error of a standby for a write.
var errReadOnly = driver.Translate(driver.ReadOnly, io.EOF, "")
