package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	sqldriver "database/sql/driver"
	"strings"
	"sync"

	gosqlite "github.com/glebarez/go-sqlite"
	gormsqlite "github.com/glebarez/sqlite"
)

// connector opens the connections of one pool. It adds to the library what a pool needs:
// one database in memory for all connections, writers that queue up instead of polling
// for the lock, statements that end with their context while they are stepping, and times
// in UTC, because SQLite compares them as texts.
type connector struct {
	dsn     string
	private bool          // a database in memory of this pool alone
	queue   chan struct{} // holds the writer's token; nil where transactions do not lock at once

	mu     sync.Mutex
	anchor sqldriver.Conn // keeps the database in memory alive while the pool has no connection
	closed bool
}

func newConnector(dsn string) *connector {
	c := &connector{dsn: dsn}
	name, query, _ := strings.Cut(dsn, "?")
	if c.private = isMemory(name, query); c.private {
		// A name that begins with a slash is shared within the process
		// (sqlite.org/src/file/src/memdb.c). There, readers wait for writers too: a short
		// wait of SQLite's lets conn.patiently look at the context.
		c.dsn = "file:/plinth-" + rand.Text() + "?vfs=memdb&" +
			strings.ReplaceAll(query, "mode=memory", "") +
			"&_pragma=busy_timeout(5)"
	}
	if locksAtOnce(dsn) {
		c.queue = make(chan struct{}, 1)
	}
	return c
}

// locksAtOnce reports whether transactions take the write lock when they begin.
func locksAtOnce(dsn string) bool {
	_, query, _ := strings.Cut(dsn, "?")
	return strings.Contains(query, "_txlock=immediate") ||
		strings.Contains(query, "_txlock=exclusive")
}

// isMemory reports whether a DSN names a database in memory, other than one that its
// application shares by name.
func isMemory(name, query string) bool {
	inMemory := name == memory || name == "file:"+memory || strings.Contains(query, "mode=memory")
	return inMemory && !strings.Contains(query, "cache=shared")
}

// registered is the library's driver, with the functions that the application has
// registered there.
var registered = sync.OnceValue(func() sqldriver.Driver {
	db, err := sql.Open(gormsqlite.DriverName, "")
	if err != nil {
		return &gosqlite.Driver{}
	}
	defer func() { _ = db.Close() }() // it has no connection
	return db.Driver()
})

// Driver implements driver.Connector.
func (c *connector) Driver() sqldriver.Driver { return registered() }

// Connect implements driver.Connector.
func (c *connector) Connect(context.Context) (sqldriver.Conn, error) {
	if err := c.hold(); err != nil {
		return nil, err
	}
	inner, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	handle := handleOf(inner)
	return &conn{
		library: inner.(library), queue: c.queue, handle: handle,
		exec: newWatcher(handle),
	}, nil //nolint:forcetypeassert // the library's type
}

// hold opens the anchor of a database in memory.
func (c *connector) hold() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.private && c.anchor == nil && !c.closed {
		c.anchor, err = c.Driver().Open(c.dsn)
	}
	return err
}

// Close implements io.Closer; the pool calls it when it is closed.
func (c *connector) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.anchor == nil {
		return nil
	}
	return c.anchor.Close()
}
