package email

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/notifyx"
)

var emailLog = xlog.WithName(xlog.NamedEMAIL)

// EmailClient sends email over a small pool of connections. It is safe for concurrent
// use.
type EmailClient struct { //nolint:revive // exported: the specification prescribes the name
	// a pointer, so that printing the client or a value that contains it does not print
	// the password
	config  *Config
	own     *notifyx.Templates // overrides builtin
	builtin *notifyx.Templates

	slots chan struct{}   // one token per connection in use
	base  context.Context // canceled to abort sends
	abort context.CancelCauseFunc

	stopping chan struct{}  // closed by Close
	sending  sync.WaitGroup // calls of Send and Ping
	calls    atomic.Int64   // number of these calls
	quits    sync.WaitGroup

	mu     sync.Mutex
	idle   []*session // most recently used last
	closed bool
}

// InitClient returns a client for the EMAIL_* variables. It is a component function:
//
//	{Key: xctx.EmailClientKey, Node: email.InitClient}
//
// It does not connect, so that a service starts even if its mail server is unavailable.
func InitClient(ctx context.Context) (any, error) {
	config, err := ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	if config.TLS == tlsNone && !isLoopback(config.Host) {
		emailLog.Warn(ctx, "mail is sent without encryption",
			slog.String("variable", string(tlsKey)))
	}
	return New(config)
}

// New returns a client, or an error with all problems of the configuration. It does not
// connect.
func New(config Config) (*EmailClient, error) {
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("email: %w", err)
	}
	builtin, err := builtinTemplates()
	if err != nil {
		return nil, fmt.Errorf("email: %w", err)
	}
	registerMapper()
	config = config.withDefaults()
	c := &EmailClient{
		config: &config, own: notifyx.NewTemplates(), builtin: builtin,
		slots: make(chan struct{}, config.Connections), stopping: make(chan struct{}),
	}
	c.base, c.abort = context.WithCancelCause(context.Background())
	return c, nil
}

// GetClient returns the client of the application, or a ConfigError if ctx has no client.
func GetClient(ctx context.Context) (*EmailClient, *xerror.Error) {
	return xctxutil.Get[*EmailClient](ctx, xctx.EmailClientKey)
}

// MustGetClient is like GetClient but panics if ctx has no client.
func MustGetClient(ctx context.Context) *EmailClient {
	return xctxutil.MustGet[*EmailClient](ctx, xctx.EmailClientKey)
}

// String describes the client without its password.
func (c *EmailClient) String() string { return "email.EmailClient" + c.config.String() }

// Ping checks that the server responds. It connects and authenticates if no connection is
// open.
//
// The client does not affect the readiness of a service, because most services remain
// useful without email. To change that, register the check:
//
//	xhook.AddHealth(ctx, "email", client.Ping)
func (c *EmailClient) Ping(ctx context.Context) error {
	ctx, end, err := c.beginCall(ctx)
	if err != nil {
		return err
	}
	defer end()
	return c.use(ctx, func(s *session) (keep bool, err error) {
		err = s.ping(*c.config)
		return err == nil, err
	})
}

func (s *session) ping(c Config) error {
	s.used++
	s.conn.startStep(c.CommandTimeout)
	if err := s.client.Noop(); err != nil {
		return s.stepError(stepNoop, err)
	}
	return nil
}

// beginCall registers a call until end is called, and returns a context that is also
// canceled when the client aborts sends.
func (c *EmailClient) beginCall(
	ctx context.Context,
) (inner context.Context, end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, fail(ErrClosed, "", nil)
	}
	c.sending.Add(1)
	c.calls.Add(1)
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.base, func() { cancel(context.Cause(c.base)) })
	return inner, func() {
		stop()
		cancel(nil)
		c.calls.Add(-1)
		c.sending.Done()
	}, nil
}

// Close rejects new messages, waits for messages in flight, and closes the connections
// with QUIT. If ctx is done first, Close aborts the sends in progress and returns an
// error with their number. Messages that wait for a retry are not retried.
func (c *EmailClient) Close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stopping)
	}
	for _, s := range c.idle {
		s.idle.Stop()
		c.quitAsync(s)
	}
	c.idle = nil
	c.mu.Unlock()
	defer c.abort(ErrClosed)
	select {
	case <-done(&c.sending):
	case <-ctx.Done():
		if n := c.calls.Load(); n > 0 {
			return fmt.Errorf("email: Close: aborted %d calls: %w",
				n, context.Cause(ctx))
		}
	}
	select {
	case <-done(&c.quits):
	case <-ctx.Done():
	}
	return nil
}

// done returns a channel that is closed when the group is done.
func done(group *sync.WaitGroup) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		defer close(c)
		group.Wait()
	}()
	return c
}
