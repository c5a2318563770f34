package email

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/notifyx"
)

var emailLog = xlog.WithName(xlog.NamedEMAIL)

// EmailClient sends mail over a few connections that it keeps for the next message. It is safe for concurrent use.
type EmailClient struct { //nolint:revive // exported: the specification's name
	config  *Config            // behind a pointer: what prints a client, or what holds one, prints no password
	own     *notifyx.Templates // go before builtin
	builtin *notifyx.Templates

	slots    chan struct{}   // one for each connection in use
	base     context.Context // ends when what is being sent is cut off
	cutOff   context.CancelCauseFunc
	stopping chan struct{} // closed by Close

	mu      sync.Mutex
	idle    []*session // the one used last is at the end
	busy    int        // what Close waits for: messages and goodbyes
	sending int        // of these, calls of Send and Ping
	closed  bool
	drained chan struct{} // closed when closed and not busy
}

// InitClient is the node of the client that EMAIL_* describe:
//
//	{Key: xctx.EmailClientKey, Node: email.InitClient}
//
// It does not connect, so that a service also starts where its mail server does not answer.
func InitClient(ctx context.Context) (any, error) {
	config, err := ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	if config.TLS == TLSNone && !isLoopback(config.Host) {
		emailLog.Warn(ctx, "mail leaves the machine in plain text", slog.String("variable", string(tlsKey)))
	}
	return New(config)
}

// New returns a client for a configuration. It does not connect. All problems of the configuration come back at once.
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
		slots: make(chan struct{}, config.Connections), stopping: make(chan struct{}), drained: make(chan struct{}),
	}
	c.base, c.cutOff = context.WithCancelCause(context.Background())
	return c, nil
}

// GetClient returns the client that the application's context carries. Where there is none, the error is a ConfigError.
func GetClient(ctx context.Context) (*EmailClient, *xerror.Error) {
	return xctxutil.Get[*EmailClient](ctx, xctx.EmailClientKey)
}

// MustGetClient is GetClient for an application that has a client: it panics where there is none.
func MustGetClient(ctx context.Context) *EmailClient {
	return xctxutil.MustGet[*EmailClient](ctx, xctx.EmailClientKey)
}

// String describes the client without its password.
func (c *EmailClient) String() string {
	if c == nil || c.config == nil {
		return "email.EmailClient{}"
	}
	return "email.EmailClient" + c.config.String()
}

// Format implements fmt.Formatter, so that no verb prints the fields.
func (c *EmailClient) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, c.String()) }

// LogValue implements slog.LogValuer.
func (c *EmailClient) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Ping connects where no connection is open, logs in, and asks whether the server answers.
//
// A client takes no part in the readiness of its service, because a service that cannot send mail can do everything else. One
// that cannot do without adds the check itself:
//
//	xhook.AddHealth(ctx, "email", client.Ping)
func (c *EmailClient) Ping(ctx context.Context) error {
	ctx, end, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer end()
	s, err := c.acquire(ctx, false)
	if err != nil {
		return err
	}
	err = s.ping(*c.config)
	c.release(s, err == nil)
	if !errors.Is(err, errDropped) {
		return err
	}
	if s, err = c.acquire(ctx, true); err != nil { // it had waited too long
		return err
	}
	err = s.ping(*c.config)
	c.release(s, err == nil)
	return err
}

func (s *session) ping(c Config) error {
	s.used++
	s.conn.begin(c.CommandTimeout)
	if err := s.client.Noop(); err != nil {
		return s.wrong(stepNoop, err)
	}
	return nil
}

// enter counts a use of the client, until end is called, and gives it a context that also ends when it is cut off.
func (c *EmailClient) enter(ctx context.Context) (inner context.Context, end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, fail(ErrClosed, "", nil)
	}
	c.busy++
	c.sending++
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.base, func() { cancel(context.Cause(c.base)) })
	return inner, func() {
		stop()
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sending--
		c.leave()
	}, nil
}

// leave ends what busy counts. The caller holds the lock.
func (c *EmailClient) leave() {
	c.busy--
	if c.closed && c.busy == 0 {
		close(c.drained)
	}
}

// Close refuses new messages, waits for those that are being sent, and says goodbye on the connections that are left. When
// ctx ends first, what is being sent is cut off, and the error says how much that was. A message that waits for another try is
// not tried again.
func (c *EmailClient) Close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.stopping)
		for _, s := range c.idle {
			s.idle.Stop()
			c.dismiss(s)
		}
		c.idle = nil
		if c.busy == 0 {
			close(c.drained)
		}
	}
	c.mu.Unlock()
	select {
	case <-c.drained:
		c.cutOff(ErrClosed) // nothing is left that it could end
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	sending := c.sending
	c.mu.Unlock()
	c.cutOff(ErrClosed)
	if sending == 0 {
		return nil // only goodbyes
	}
	return fmt.Errorf("email: %d calls that were sending were cut off: %w", sending, context.Cause(ctx))
}
