package xdb_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	// registers the lookup of the request context in a gin context
	_ "github.com/plinthgo/plinth/core/major/xhttp"
)

func TestRegistry_UnknownDriver(t *testing.T) {
	t.Run("names the import line", func(t *testing.T) {
		r := registryOf(&fakeDriver{name: "other"})
		_, err := r.Open(t.Context(), xdb.Options{Driver: "oracle"})
		if !errors.Is(err, xdb.ErrUnknownDriver) {
			t.Fatalf("error = %v, want ErrUnknownDriver", err)
		}
		for _, want := range []string{
			"DATABASE_DRIVER", `"oracle"`, "imported: other",
			`import _ "github.com/plinthgo/plinth/dbplugins/oracle"`,
			"go get github.com/plinthgo/plinth/dbplugins/oracle",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %q, want %q in it", err, want)
			}
		}
	})

	t.Run("has no import line for third-party drivers", func(t *testing.T) {
		var r xdb.Registry
		_, err := r.Resolve(xdb.Options{Driver: "cassandra"})
		if !errors.Is(err, xdb.ErrUnknownDriver) || strings.Contains(err.Error(), "import _") ||
			!strings.Contains(err.Error(), "imported: none") {
			t.Errorf("error = %v, want ErrUnknownDriver without an import line", err)
		}
	})
}

func TestRegistry_Register(t *testing.T) {
	for _, tc := range []struct {
		name   string
		driver driver.Driver
		want   string
	}{
		{
			name: "rejects a registered name", driver: &fakeDriver{},
			want: "xdb: driver registered twice: fake",
		},
		{
			name: "rejects an empty name", driver: nameless{&fakeDriver{}},
			want: "xdb: a driver without a name",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != tc.want {
					t.Errorf("panic = %v, want %q", got, tc.want)
				}
			}()
			registryOf(&fakeDriver{}).Register(tc.driver)
		})
	}
}

// outdated is a driver for another interface version.
type outdated struct{ fakeDriver }

func (*outdated) InterfaceVersion() int { return driver.InterfaceVersion - 1 }

func TestRegistry_InterfaceVersion(t *testing.T) {
	var r xdb.Registry
	r.Register(&outdated{})
	db, err := r.Open(t.Context(), xdb.Options{Driver: "fake"})
	if db != nil || !errors.Is(err, xdb.ErrInterface) {
		t.Fatalf("Open = %v, %v; want ErrInterface", db, err)
	}
	if _, err := r.Resolve(xdb.Options{Driver: "fake"}); !errors.Is(err, xdb.ErrInterface) {
		t.Errorf("Resolve = %v, want ErrInterface", err)
	}
	for _, want := range []string{"version 0", "version 1", "go get "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
}

type nameless struct{ *fakeDriver }

func (nameless) Name() string { return "" }

func TestRegistry_Resolve(t *testing.T) {
	t.Run("reports all problems at once", func(t *testing.T) {
		var r xdb.Registry
		_, err := r.Resolve(xdb.Options{Prepare: []xdb.Prepare{nil}, AutoMigrate: []any{nil}})
		if err == nil {
			t.Fatal("Resolve = nil, want an error")
		}
		for _, want := range []string{
			"DATABASE_DRIVER", "Prepare function 1", "AutoMigrate entity 1",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %q, want %q in it", err, want)
			}
		}
	})

	t.Run("validates the table prefix", func(t *testing.T) {
		for _, tc := range []struct {
			name, prefix string
			want         bool
		}{
			{name: "empty", want: true},
			{name: "usual", prefix: "app_", want: true},
			{name: "a schema", prefix: "shop.t2_", want: true},
			{name: "upper case", prefix: "App_"},
			{name: "a quote", prefix: `we ird"`},
			{name: "a digit first", prefix: "2app_"},
			{name: "too long", prefix: strings.Repeat("a", 31)},
		} {
			t.Run(tc.name, func(t *testing.T) {
				_, err := registryOf(&fakeDriver{}).Resolve(
					xdb.Options{Driver: "fake", TablePrefix: tc.prefix})
				if (err == nil) != tc.want || err != nil &&
					!strings.Contains(err.Error(), "DATABASE_PREFIX") {
					t.Errorf("Resolve = %v, want success: %t", err, tc.want)
				}
			})
		}
	})
}

func TestCode(t *testing.T) {
	t.Run("exists for every kind", func(t *testing.T) {
		for k := driver.Unknown + 1; k <= driver.Full; k++ {
			err := driver.Translate(k, errors.New("cause"), "")
			if xdb.Code(fmt.Errorf("wrapped: %w", err)) == nil {
				t.Errorf("%s has no code", k)
			}
		}
	})

	t.Run("maps errors of drivers and libraries", func(t *testing.T) {
		of := func(k driver.ErrorKind) error { return driver.Translate(k, errors.New("cause"), "") }
		for _, tc := range []struct {
			name string
			err  error
			want *xerror.ErrorCode
		}{
			{name: "unique", err: of(driver.Unique), want: xerror.UniqueConstraint},
			{name: "foreign key", err: of(driver.ForeignKey), want: xerror.ForeignKeyError},
			{name: "check", err: of(driver.Check), want: xerror.IntegrityError},
			{name: "not null", err: of(driver.NotNull), want: xerror.DataIncomplete},
			{name: "too long", err: of(driver.TooLong), want: xerror.DataTooLarge},
			{name: "deadlock", err: of(driver.Deadlock), want: xerror.ConcurrencyError},
			{name: "lock timeout", err: of(driver.LockTimeout), want: xerror.LockConflict},
			{
				name: "interrupted by the server", err: of(driver.Canceled),
				want: xerror.GatewayTimeout,
			},
			{
				name: "interrupted by the caller",
				err:  errors.Join(context.Canceled, of(driver.Canceled)),
				want: xerror.Canceled,
			},
			{name: "connection", err: of(driver.Connection), want: xerror.ServiceUnavailable},
			{
				name: "too many connections", err: of(driver.TooManyConnections),
				want: xerror.ServiceUnavailable,
			},
			{name: "syntax", err: of(driver.Syntax), want: xerror.DatabaseError},
			{name: "full", err: of(driver.Full), want: xerror.StorageError},
			{
				name: "no record", err: fmt.Errorf("x: %w", gorm.ErrRecordNotFound),
				want: xerror.RecordNotFound,
			},
			{name: "no rows", err: sql.ErrNoRows, want: xerror.RecordNotFound},
			{name: "bad connection", err: sqldriver.ErrBadConn, want: xerror.ServiceUnavailable},
			{name: "missing where", err: gorm.ErrMissingWhereClause, want: xerror.DatabaseError},
			{name: "gorm's duplicate", err: gorm.ErrDuplicatedKey, want: xerror.UniqueConstraint},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got := xerror.From(tc.err).GetErrorCode(); got != tc.want {
					t.Errorf("code = %v, want %v", got, tc.want)
				}
			})
		}
		for _, other := range []error{
			errors.New("other"), context.Canceled, fmt.Errorf("x: %w", context.DeadlineExceeded),
		} {
			if got := xdb.Code(other); got != nil {
				t.Errorf("Code(%v) = %v, want nil", other, got)
			}
		}
	})

	// A third-party driver may classify every broken connection of the process, as the
	// first drivers did.
	t.Run("ignores network errors of other components", func(t *testing.T) {
		registerGreedy()
		for _, err := range []error{
			io.EOF, fmt.Errorf("read a file: %w", io.ErrUnexpectedEOF), net.ErrClosed,
			syscall.ECONNRESET, syscall.ECONNREFUSED,
			&net.OpError{Op: "read", Err: syscall.ECONNRESET}, &net.DNSError{Name: "elsewhere"},
		} {
			if got := xdb.Code(err); got != nil {
				t.Errorf("Code(%v) = %v, want nil", err, got)
			}
			if got := xdb.Code(driver.TranslateNetwork(err)); got != xerror.ServiceUnavailable {
				t.Errorf("Code(%v) as a database error = %v, want %v",
					err, got, xerror.ServiceUnavailable)
			}
		}
		if got := xdb.Code(fmt.Errorf("x: %w", errOwn)); got != xerror.ServiceUnavailable {
			t.Errorf("Code of a driver error = %v, want %v", got, xerror.ServiceUnavailable)
		}
	})
}

// registerGreedy registers a driver that classifies every broken connection. It does so
// once, even with -count.
var registerGreedy = sync.OnceFunc(func() {
	xdb.Register(&fakeDriver{name: "greedy", kind: func(err error) driver.ErrorKind {
		if errors.Is(err, errOwn) {
			return driver.Connection
		}
		return driver.KindOf(driver.TranslateNetwork(err))
	}})
})

var errOwn = errors.New("greedy: the server has closed the connection")

func TestGetDB(t *testing.T) {
	t.Run("fails without a database", func(t *testing.T) {
		db, err := xdb.GetDB(t.Context())
		if db != nil || err.GetErrorCode() != xerror.ConfigError {
			t.Errorf("GetDB = %v, %v; want nil and a ConfigError", db, err)
		}
		txErr := xdb.Transaction(t.Context(), func(context.Context) error { return nil })
		if xerror.From(txErr).GetErrorCode() != xerror.ConfigError {
			t.Errorf("Transaction = %v, want a ConfigError", txErr)
		}
		defer func() {
			if e, ok := recover().(*xerror.Error); !ok || e.GetErrorCode() != xerror.ConfigError {
				t.Error("MustGetDB did not panic with a ConfigError")
			}
		}()
		xdb.MustGetDB(t.Context())
	})

	t.Run("is bound to its context", func(t *testing.T) {
		db := openFake(t, &fakeDriver{})
		type key struct{}
		ctx := context.WithValue(context.WithValue(t.Context(), xctx.DatabaseKey, db), key{},
			"mine")
		if got := xdb.MustGetDB(ctx).Statement.Context.Value(key{}); got != "mine" {
			t.Errorf("value of the statement's context = %v, want mine", got)
		}
	})

	// gin reuses its contexts, and database/sql may read the context of a statement after
	// the handler has returned.
	t.Run("uses the request context of gin", func(t *testing.T) {
		app := context.WithValue(t.Context(), xctx.DatabaseKey, openFake(t, &fakeDriver{}))
		engine := gin.New()
		engine.ContextWithFallback = true
		served := false
		engine.GET("/", func(c *gin.Context) {
			served = true
			if used := xdb.MustGetDB(c).Statement.Context; used != c.Request.Context() {
				t.Errorf("context of the statement = %T, want the context of the request", used)
			}
		})
		engine.ServeHTTP(httptest.NewRecorder(),
			httptest.NewRequestWithContext(app, http.MethodGet, "/", http.NoBody))
		if !served {
			t.Error("the handler was not called")
		}
	})
}

func TestClose(t *testing.T) {
	if err := xdb.Close(nil); err != nil {
		t.Errorf("Close(nil) = %v", err)
	}
	db := openFake(t, &fakeDriver{})
	for range 2 {
		if err := xdb.Close(db); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if xdb.CheckHealth(t.Context(), db) == nil {
		t.Error("CheckHealth = nil for a closed database")
	}
}

func openFake(t *testing.T, f *fakeDriver) *gorm.DB {
	t.Helper()
	db, err := registryOf(f).Open(t.Context(), xdb.Options{Driver: "fake"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = xdb.Close(db) })
	return db
}

type item struct{ ID int64 }

func TestOpen_StatementContext(t *testing.T) {
	libraryErr := errors.New("ORA-01013")
	for _, tc := range []struct {
		name string
		kind driver.ErrorKind
		want error
	}{
		{name: "unknown error", kind: driver.Unknown, want: context.Canceled},
		{name: "interrupted statement", kind: driver.Canceled, want: context.Canceled},
		{name: "a broken connection", kind: driver.Connection, want: context.Canceled},
		{name: "a connection limit", kind: driver.TooManyConnections, want: context.Canceled},
		{name: "response of the database", kind: driver.Unique, want: gorm.ErrDuplicatedKey},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			db := openFake(t, &fakeDriver{
				query: func(context.Context, string) error { cancel(); return libraryErr },
				kind:  func(error) driver.ErrorKind { return tc.kind },
			})
			session := db.Session(&gorm.Session{SkipDefaultTransaction: true, Context: ctx})
			err := session.Create(&item{ID: 1}).Error
			if !errors.Is(err, tc.want) || !errors.Is(err, libraryErr) {
				t.Errorf("Create = %v, want %v wrapping %v", err, tc.want, libraryErr)
			}
		})
	}
}

func TestOpen_ErrorLog(t *testing.T) {
	syntax := func(error) driver.ErrorKind { return driver.Syntax }
	unique := func(error) driver.ErrorKind { return driver.Unique }
	boom := errors.New("near 'secret'")
	for _, tc := range []struct {
		name   string
		err    error
		kind   func(error) driver.ErrorKind
		silent bool
		want   int // number of error lines
	}{
		{name: "an invalid statement", err: boom, kind: syntax, want: 1},
		{name: "an unknown error", err: boom, want: 1},
		{name: "a violated constraint", err: boom, kind: unique},
		{name: "no row", err: sql.ErrNoRows},
		{name: "context ended", err: context.DeadlineExceeded},
		{name: "silent logger", err: boom, kind: syntax, silent: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, log := logged(t)
			db := openFake(t, &fakeDriver{
				query: func(context.Context, string) error { return tc.err },
				kind:  tc.kind,
			})
			if tc.silent {
				db = db.Session(&gorm.Session{Logger: db.Logger.LogMode(logger.Silent)})
			}
			const statement = "UPDATE t SET a = 'secret' WHERE b = ?"
			if db.WithContext(ctx).Exec(statement, "secret").Error == nil {
				t.Error("Exec succeeded, want an error")
			}
			if got := log.count(`"level":"error"`); got != tc.want {
				t.Errorf("error lines = %d, want %d:\n%s", got, tc.want, log)
			}
			if strings.Contains(log.String(), "secret") {
				t.Errorf("the log contains a literal:\n%s", log)
			}
			if tc.silent && log.String() != "" {
				t.Errorf("the silent logger wrote:\n%s", log)
			}
		})
	}
}
