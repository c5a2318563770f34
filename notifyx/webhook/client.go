package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// Endpoint is a receiver. It prints as its id only, since a URL may hold a token, and
// headers do: with fmt, log/slog and encoding/json, by itself and as an exported field or
// an element of something else. Where fmt cannot call its methods, it prints everything
// but the secrets: an unexported field keeps the id instead.
type Endpoint struct {
	// ID names the receiver within the application. Circuits are kept by it; it is in log
	// lines.
	ID string
	// URL is where events go; see Client.CheckURL.
	URL string
	// Secrets sign, all of them: during a rotation the old and the new one.
	Secrets []signature.Secret
	// Header is sent along, such as an Authorization that the receiver asks for.
	Header http.Header
}

// Format writes the id whatever the verb.
func (e Endpoint) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "endpoint "+strconv.Quote(e.ID))
}

// MarshalText returns the id.
func (e Endpoint) MarshalText() ([]byte, error) { return []byte(e.ID), nil }

// LogValue returns the id.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.ID) }

// Event is what happened. Its body is {"type", "timestamp", "data"}, as the specification
// has it.
type Event struct {
	// ID stays the same over all attempts, so that a receiver knows a repeat: 1 to 200
	// printable ASCII characters without spaces and full stops. "" takes a new one.
	ID string
	// Type says what happened, in words separated by full stops: "user.created".
	Type string
	// Timestamp is when it happened; now, where it is zero. The signature has the time of
	// the attempt.
	Timestamp time.Time
	// Data is encoded as JSON.
	Data any
}

// Result is an attempt that reached the receiver, whatever it answered.
type Result struct {
	// ID is the event's.
	ID string
	// Status is the HTTP status of the answer, or 0 without one.
	Status int
	// Duration is how long the attempt took.
	Duration time.Duration
}

// Client sends webhooks, one attempt each. It is safe for concurrent use. New makes it.
type Client struct {
	config    config
	guard     guard
	transport *http.Transport
	circuits  *circuits
}

// New returns a client. The error, ErrOption, tells everything that is wrong. An option
// that is nil is ignored.
func New(opts ...Option) (*Client, error) {
	c := &Client{config: defaults()}
	for _, o := range opts {
		if o != nil {
			o(&c.config)
		}
	}
	if err := c.config.check(); err != nil {
		return nil, err
	}
	registerMapper()
	c.guard = guard{allowed: slices.Clone(c.config.allowed)}
	c.transport = newTransport(&c.config, c.guard)
	c.circuits = newCircuits(&c.config)
	return c, nil
}

// Close lets go of what no attempt uses. The client can be used on.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Send makes one attempt. It succeeds where the receiver answers 2xx, with an answer
// within the limits and in time. The errors are those of this package; RetryAfter tells
// how long to wait. The end of ctx is told by its own cause.
//
// Nothing of the answer but its status and Retry-After is kept.
func (c *Client) Send(ctx context.Context, to Endpoint, event Event) (Result, error) {
	ctx = xctx.Unpooled(ctx)
	if event.ID == "" {
		event.ID = signature.NewID()
	}
	result := Result{ID: event.ID}
	req, err := c.request(to, event)
	if err != nil {
		return result, err
	}
	answered, err := c.circuits.do(to.ID, func() (Result, error) { return c.exchange(ctx, req) })
	result.Status, result.Duration = answered.Status, answered.Duration
	return result, err
}

// request checks everything that can be checked without the network.
func (c *Client) request(to Endpoint, event Event) (*request, error) {
	u, err := c.parseURL(to.URL)
	if err != nil {
		return nil, err
	}
	if err := to.check(); err != nil {
		return nil, err
	}
	body, err := event.encode(c.config.now())
	if err != nil {
		return nil, err
	}
	if err := c.checkPayload(body); err != nil {
		return nil, err
	}
	return c.sign(u, to, event.ID, body), nil
}

func (c *Client) checkPayload(body []byte) error {
	if len(body) > c.config.maxPayload {
		return fmt.Errorf("%w: %d bytes (accepted: %d)",
			ErrPayloadTooLarge, len(body), c.config.maxPayload)
	}
	return nil
}

func (e Endpoint) check() error {
	if e.ID == "" {
		return fmt.Errorf("%w: it has no id", ErrEndpoint)
	}
	if len(e.Secrets) == 0 || slices.ContainsFunc(e.Secrets, signature.Secret.IsZero) {
		return fmt.Errorf("%w: it has no secret, or an empty one", ErrEndpoint)
	}
	for name, values := range e.Header {
		invalid := func(value string) bool { return !httpguts.ValidHeaderFieldValue(value) }
		if isReserved(name) || !httpguts.ValidHeaderFieldName(name) ||
			slices.ContainsFunc(values, invalid) {
			return fmt.Errorf("%w: it cannot set the header %q", ErrEndpoint, name)
		}
	}
	return nil
}

// encode returns the body, with the time now where the event has none.
func (e Event) encode(now time.Time) ([]byte, error) {
	if !signature.ValidID(e.ID) {
		return nil, fmt.Errorf(
			"%w: the id (accepted: 1 to %d printable ASCII characters without spaces and full stops)", ErrEvent, signature.MaxIDBytes)
	}
	if e.Type == "" {
		return nil, fmt.Errorf("%w: it has no type", ErrEvent)
	}
	if e.Timestamp.IsZero() {
		e.Timestamp = now
	}
	body, err := json.Marshal(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{e.Type, e.Timestamp.UTC(), e.Data})
	if err != nil {
		// the cause may hold values
		return nil, fmt.Errorf("%w: the data of type %T cannot be encoded", ErrEvent, e.Data)
	}
	return body, nil
}

// isReserved reports whether a header is set by the client, belongs to the connection, or
// would make the exchange another.
func isReserved(name string) bool {
	name = http.CanonicalHeaderKey(name)
	return strings.HasPrefix(name, "Webhook-") || strings.HasPrefix(name, "Proxy-") ||
		slices.Contains(reserved, name)
}

var reserved = []string{
	"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie",
	"Expect", "Host",
	"Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}
