package xdb_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// fakeDriver is a driver without a server. Its functions simulate the server.
type fakeDriver struct {
	name    string
	dsn     func(driver.Config) (string, error)
	connect func(ctx context.Context, attempt int) error
	query   func(ctx context.Context, sql string) error
	ping    func(ctx context.Context) error
	prepare func() error
	rows    func() sqldriver.Rows
	kind    func(error) driver.ErrorKind
	pool    func(*sql.DB) gorm.ConnPool

	mu          sync.Mutex
	attempts    int
	initialized int // number of dialectors
	open        int // number of open connections
	prepared    int // number of prepared statements
}

func (f *fakeDriver) Name() string {
	if f.name == "" {
		return "fake"
	}
	return f.name
}

func (f *fakeDriver) DSN(c driver.Config) (string, error) {
	if f.dsn != nil {
		return f.dsn(c)
	}
	return "fake://" + c.User + ":" + c.Pass + "@" + c.Host + "/" + c.Name, nil
}

func (*fakeDriver) InterfaceVersion() int { return 1 }

func (*fakeDriver) Advice(driver.Config) []string { return nil }

func (*fakeDriver) Describe(dsn string) string {
	_, where, _ := strings.Cut(dsn, "@")
	return where
}

func (f *fakeDriver) Dialector(string) gorm.Dialector { return &fakeDialector{fake: f} }

func (f *fakeDriver) ErrorKind(err error) driver.ErrorKind {
	if f.kind != nil {
		return f.kind(err)
	}
	return driver.Unknown
}

func (f *fakeDriver) connectAttempts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attempts
}

func (f *fakeDriver) openConnections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

type fakeDialector struct {
	tests.DummyDialector

	fake *fakeDriver
}

func (d *fakeDialector) Name() string { return d.fake.Name() }

func (d *fakeDialector) Initialize(db *gorm.DB) error {
	d.fake.mu.Lock()
	d.fake.initialized++
	d.fake.mu.Unlock()
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{})
	pool := sql.OpenDB(d)
	db.ConnPool = pool
	if d.fake.pool != nil {
		db.ConnPool = d.fake.pool(pool)
	}
	return nil
}

func (d *fakeDialector) Translate(err error) error {
	return driver.Translate(d.fake.ErrorKind(err), err, "")
}

func (d *fakeDialector) Driver() sqldriver.Driver { return nil }

func (d *fakeDialector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	d.fake.mu.Lock()
	d.fake.attempts++
	attempt := d.fake.attempts
	d.fake.mu.Unlock()
	if d.fake.connect != nil {
		if err := d.fake.connect(ctx, attempt); err != nil {
			return nil, err
		}
	}
	d.fake.mu.Lock()
	d.fake.open++
	d.fake.mu.Unlock()
	return &fakeConn{fake: d.fake}, nil
}

type fakeConn struct{ fake *fakeDriver }

func (c *fakeConn) Begin() (sqldriver.Tx, error) { return fakeTx{}, nil }

func (c *fakeConn) Prepare(sql string) (sqldriver.Stmt, error) {
	if c.fake.prepare != nil {
		if err := c.fake.prepare(); err != nil {
			return nil, err
		}
	}
	c.fake.mu.Lock()
	defer c.fake.mu.Unlock()
	c.fake.prepared++
	return &fakeStmt{conn: c, sql: sql}, nil
}

func (c *fakeConn) Close() error {
	c.fake.mu.Lock()
	defer c.fake.mu.Unlock()
	c.fake.open--
	return nil
}

func (c *fakeConn) ExecContext(
	ctx context.Context, sql string, _ []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if c.fake.query != nil {
		if err := c.fake.query(ctx, sql); err != nil {
			return nil, err
		}
	}
	return sqldriver.RowsAffected(1), nil
}

func (c *fakeConn) QueryContext(
	ctx context.Context, sql string, _ []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	if c.fake.query != nil {
		if err := c.fake.query(ctx, sql); err != nil {
			return nil, err
		}
	}
	if c.fake.rows != nil {
		return c.fake.rows(), nil
	}
	return noRows{}, nil
}

func (c *fakeConn) Ping(ctx context.Context) error {
	if c.fake.ping != nil {
		return c.fake.ping(ctx)
	}
	return nil
}

// fakeStmt is a prepared statement.
type fakeStmt struct {
	conn *fakeConn
	sql  string
}

func (s *fakeStmt) Close() error { return nil }

func (s *fakeStmt) NumInput() int { return -1 }

func (s *fakeStmt) Exec([]sqldriver.Value) (sqldriver.Result, error) {
	return nil, sqldriver.ErrSkip
}

func (s *fakeStmt) Query([]sqldriver.Value) (sqldriver.Rows, error) {
	return nil, sqldriver.ErrSkip
}

func (s *fakeStmt) ExecContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	return s.conn.ExecContext(ctx, s.sql, args)
}

func (s *fakeStmt) QueryContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	return s.conn.QueryContext(ctx, s.sql, args)
}

type fakeTx struct{}

func (fakeTx) Commit() error   { return nil }
func (fakeTx) Rollback() error { return nil }

type noRows struct{}

func (noRows) Columns() []string            { return []string{"id"} }
func (noRows) Close() error                 { return nil }
func (noRows) Next([]sqldriver.Value) error { return io.EOF }

func registryOf(d driver.Driver) *xdb.Registry {
	var r xdb.Registry
	r.Register(d)
	return &r
}

// lines collects the log lines of the context that logged returns.
type lines struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) count(text string) int {
	n := 0
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// logged returns a context and the log lines that are written with it.
func logged(t *testing.T) (context.Context, *lines) {
	t.Helper()
	l := &lines{}
	engine, err := xlog.New(xlog.Config{Level: slog.LevelDebug, Format: xlog.FormatJSON, Writer: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return xlog.NewContext(t.Context(), engine), l
}
