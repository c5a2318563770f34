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

// EmailClient sends mail over a few connections that it keeps for the next message. It is
// safe for concurrent use.
type EmailClient struct { //nolint:revive // exported: the specification's name
	// behind a pointer: what prints a client, or what holds one, prints no password
	config  *Config
	own     *notifyx.Templates // go before builtin
	builtin *notifyx.Templates

	slots  chan struct{}   // one for each connection in use
	base   context.Context // ends when what is being sent is cut off
	cutOff context.CancelCauseFunc

	stopping chan struct{}  // closed by Close
	sending  sync.WaitGroup // calls of Send and Ping
	calls    atomic.Int64   // how many these are
	goodbyes sync.WaitGroup

	mu     sync.Mutex
	idle   []*session // the one used last is at the end
	closed bool
}

// InitClient is the node of the client that EMAIL_* describe:
//
//	{Key: xctx.EmailClientKey, Node: email.InitClient}
//
// It does not connect, so that a service also starts where its mail server does not
// answer.
func InitClient(ctx context.Context) (any, error) {
	config, err := ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	if config.TLS == tlsNone && !isLoopback(config.Host) {
		emailLog.Warn(ctx, "mail leaves the machine in plain text",
			slog.String("variable", string(tlsKey)))
	}
	return New(config)
}

// New returns a client for a configuration. It does not connect. All problems of the
// configuration come back at once.
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
	c.base, c.cutOff = context.WithCancelCause(context.Background())
	return c, nil
}

// GetClient returns the client that the application's context carries. Where there is
// none, the error is a ConfigError.
func GetClient(ctx context.Context) (*EmailClient, *xerror.Error) {
	return xctxutil.Get[*EmailClient](ctx, xctx.EmailClientKey)
}

// MustGetClient is GetClient for an application that has a client: it panics where there
// is none.
func MustGetClient(ctx context.Context) *EmailClient {
	return xctxutil.MustGet[*EmailClient](ctx, xctx.EmailClientKey)
}

// String describes the client without its password.
func (c *EmailClient) String() string { return "email.EmailClient" + c.config.String() }

// Ping connects where no connection is open, logs in, and asks whether the server
// answers.
//
// A client takes no part in the readiness of its service, because a service that cannot
// send mail can do everything else. One that cannot do without adds the check itself:
//
//	xhook.AddHealth(ctx, "email", client.Ping)
func (c *EmailClient) Ping(ctx context.Context) error {
	ctx, end, err := c.enter(ctx)
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
	s.conn.begin(c.CommandTimeout)
	if err := s.client.Noop(); err != nil {
		return s.wrong(stepNoop, err)
	}
	return nil
}

// enter counts a use of the client, until end is called, and gives it a context that also
// ends when it is cut off.
func (c *EmailClient) enter(ctx context.Context) (inner context.Context, end func(), err error) {
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

// Close refuses new messages, waits for those that are being sent, and says goodbye on
// the connections that are left. When ctx ends first, what is being sent is cut off, and
// the error says how much that was. A message that waits for another try is not tried
// again.
func (c *EmailClient) Close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stopping)
	}
	for _, s := range c.idle {
		s.idle.Stop()
		c.dismiss(s)
	}
	c.idle = nil
	c.mu.Unlock()
	defer c.cutOff(ErrClosed)
	select {
	case <-done(&c.sending):
	case <-ctx.Done():
		if n := c.calls.Load(); n > 0 {
			return fmt.Errorf("email: %d calls that were sending were cut off: %w",
				n, context.Cause(ctx))
		}
	}
	select {
	case <-done(&c.goodbyes):
	case <-ctx.Done():
	}
	return nil
}

// done returns a channel that is closed when a group is done.
func done(group *sync.WaitGroup) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		defer close(c)
		group.Wait()
	}()
	return c
}
