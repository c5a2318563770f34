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

// connector opens the connections of one pool. It adds the following to the library:
//
//   - all connections share one in-memory database,
//   - writers wait in a queue instead of polling for the lock,
//   - canceling a context interrupts a running statement,
//   - times are stored in UTC, because SQLite compares them as text.
type connector struct {
	dsn     string
	private bool          // in-memory database of this pool
	queue   chan struct{} // contains the writer token; nil if transactions do not lock at BEGIN

	mu     sync.Mutex
	anchor sqldriver.Conn // preserves the in-memory database while the pool has no connection
	closed bool
}

func newConnector(dsn string) *connector {
	c := &connector{dsn: dsn}
	name, query, _ := strings.Cut(dsn, "?")
	if c.private = isMemory(name, query); c.private {
		// A name with a leading slash is shared within the process
		// (sqlite.org/src/file/src/memdb.c). Readers of such a database wait for writers.
		// A short busy timeout makes conn.retryBusy check the context.
		c.dsn = "file:/plinth-" + rand.Text() + "?vfs=memdb&" +
			strings.ReplaceAll(query, "mode=memory", "") +
			"&_pragma=busy_timeout(5)"
	}
	if locksAtBegin(dsn) {
		c.queue = make(chan struct{}, 1)
	}
	return c
}

// locksAtBegin reports whether transactions acquire the write lock at BEGIN.
func locksAtBegin(dsn string) bool {
	_, query, _ := strings.Cut(dsn, "?")
	return strings.Contains(query, "_txlock=immediate") ||
		strings.Contains(query, "_txlock=exclusive")
}

// isMemory reports whether a DSN specifies an in-memory database that is not shared by
// name.
func isMemory(name, query string) bool {
	inMemory := name == memory || name == "file:"+memory || strings.Contains(query, "mode=memory")
	return inMemory && !strings.Contains(query, "cache=shared")
}

// registered returns the library's driver, including the functions that the application
// registered.
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
	if err := c.openAnchor(); err != nil {
		return nil, err
	}
	inner, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	handle := handleOf(inner)
	lib := inner.(library) //nolint:forcetypeassert // the library's type
	return &conn{library: lib, queue: c.queue, handle: handle, exec: newWatcher(handle)}, nil
}

// openAnchor opens the anchor of an in-memory database.
func (c *connector) openAnchor() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.private && c.anchor == nil && !c.closed {
		c.anchor, err = c.Driver().Open(c.dsn)
	}
	return err
}

// Close implements io.Closer. The pool calls it when it is closed.
func (c *connector) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.anchor == nil {
		return nil
	}
	return c.anchor.Close()
}
