package receiver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// MiddlewareOption changes Middleware.
type MiddlewareOption func(*middleware)

type middleware struct {
	verifier *Verifier
	first    func(ctx context.Context, id string) (isNew bool, err error)
	forget   func(ctx context.Context, id string) error
	log      *xlog.LogNamedLogger
}

// forgetTimeout bounds Forget, which runs although the client may be gone.
const forgetTimeout = 5 * time.Second

// WithSeen answers a webhook whose id was seen before with 200, without the handler: its
// sender has missed an answer.
//
// first remembers an id and reports whether it was new, in one step, such as SET NX of a
// cache with a TTL above twice the tolerance. It is called after the signature was
// verified. forget takes back what first has remembered.
//
// Where the handler fails (an error in c.Errors, another status than 2xx, neither a
// status nor a body, or a panic), the id is forgotten, so that a repeat reaches the
// handler again. c.Status(200) without a body is success here, and is sent as it is. A
// handler that sets nothing is one that forgot to answer: xmiddle.ResponseMiddleware
// tells the sender DEVELOPER_ERROR. Two things are lost: what the handler had to do when
// the process dies in it, and when it fails after the sender has given up waiting and was
// told 200 for a repeat. A handler for which this matters stores the id in the
// transaction of its own work instead.
//
// An error of first refuses the request, and so the sender tries again. It panics where a
// function is nil.
func WithSeen(
	first func(ctx context.Context, id string) (isNew bool, err error),
	forget func(ctx context.Context, id string) error,
) MiddlewareOption {
	if first == nil || forget == nil {
		panic("webhook/receiver: WithSeen needs both functions")
	}
	return func(m *middleware) { m.first, m.forget = first, forget }
}

// Middleware lets requests pass that v verifies. It reads the body, up to the limit, and
// puts it back for the handler; DeliveryFrom has the id. Everything else is answered with
// 401 SIGNATURE_INVALID, whatever is wrong with it, or with 413 PAYLOAD_TOO_LARGE. It
// panics without a verifier. An option that is nil is ignored.
func Middleware(v *Verifier, opts ...MiddlewareOption) gin.HandlerFunc {
	if v == nil {
		panic("webhook/receiver: Middleware needs a verifier")
	}
	m := &middleware{verifier: v, log: xlog.WithName(xlog.NamedMIDE)}
	for _, o := range opts {
		if o != nil {
			o(m)
		}
	}
	return m.handle
}

func (m *middleware) handle(c *gin.Context) {
	d, err := m.receive(c)
	if err != nil {
		refuse(c, err)
		return
	}
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), deliveryKey{}, d))
	if m.first == nil {
		c.Next()
		return
	}
	switch first, err := m.first(c.Request.Context(), d.ID); {
	case err != nil:
		refuse(c, fmt.Errorf("webhook/receiver: remember the id: %w", err))
	case first:
		m.next(c, d)
	default:
		c.Abort()
		xresult.Success(c, "received before")
	}
}

// next runs the handler, and forgets the id unless it succeeds.
func (m *middleware) next(c *gin.Context, d Delivery) {
	done := false
	defer func() {
		if done {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()),
			forgetTimeout)
		defer cancel()
		if err := m.forget(ctx, d.ID); err != nil {
			m.log.Error(ctx, "webhook id not forgotten: repeats will not reach the handler",
				slog.String("webhook_id", d.ID), slog.Any("error", err))
		}
	}()
	w := &statusWriter{ResponseWriter: c.Writer}
	c.Writer = w
	c.Next()
	if done = w.succeeded() && len(c.Errors) == 0; done && !w.Written() {
		// what is remembered was answered: ResponseMiddleware takes an unwritten 200 for
		// none
		w.WriteHeaderNow()
	}
	c.Writer = w.ResponseWriter
}

// statusWriter records the status that a handler has set: 200 is also where gin starts,
// and Status of Plinth's writer is that of the error which follows if a handler writes
// nothing.
type statusWriter struct {
	gin.ResponseWriter

	set int // 0 if the handler has set none
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(code int) {
	w.set = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController find the server's writer.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// succeeded reports whether the handler has answered 2xx.
func (w *statusWriter) succeeded() bool {
	status := w.set
	if w.Written() {
		status = w.Status()
	}
	return status >= http.StatusOK && status < http.StatusMultipleChoices
}

// receive reads and verifies the request. The headers are looked at first: who has none
// that could be right is not read.
func (m *middleware) receive(c *gin.Context) (Delivery, error) {
	h, err := m.verifier.head(c.Request.Header)
	if err != nil {
		return Delivery{}, err
	}
	limit := int64(m.verifier.maxBody)
	if c.Request.ContentLength > limit {
		return Delivery{}, fmt.Errorf("%w: more than %d bytes", ErrBodyTooLarge, limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return Delivery{}, fmt.Errorf("%w: more than %d bytes", ErrBodyTooLarge, limit)
	case err != nil:
		return Delivery{}, xerror.Wrap(xerror.BodyError, "", err)
	}
	d, err := m.verifier.verify(h, body)
	if err != nil {
		return Delivery{}, err
	}
	_ = c.Request.Body.Close() // it was read to its end
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	c.Request.ContentLength = int64(len(body))
	return d, nil
}

// refuse answers with the code of the error, see mapError, and stops.
func refuse(c *gin.Context, err error) {
	c.Abort()
	xresult.Fail(c, err)
}

type deliveryKey struct{}

// DeliveryFrom returns what Middleware has verified. ctx is the *gin.Context, its
// request's context, or one derived from it.
func DeliveryFrom(ctx context.Context) (Delivery, bool) {
	d, ok := xctx.Unpooled(ctx).Value(deliveryKey{}).(Delivery)
	return d, ok
}
