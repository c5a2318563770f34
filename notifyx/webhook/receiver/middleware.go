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

// MiddlewareOption configures Middleware.
type MiddlewareOption func(*middleware)

type middleware struct {
	verifier *Verifier
	first    func(ctx context.Context, id string) (isNew bool, err error)
	forget   func(ctx context.Context, id string) error
	log      *xlog.LogNamedLogger
}

// forgetTimeout limits forget, which also runs after the client has disconnected.
const forgetTimeout = 5 * time.Second

// WithSeen responds with 200 to a webhook ID that was processed before, without calling
// the handler.
//
// first stores an ID and reports whether it was new, in one step, such as SET NX in a
// cache with a TTL above twice the tolerance. It is called after the signature was
// verified. If it fails, the request fails and the sender retries. forget removes an ID.
//
// If the handler fails, forget is called, so that a retry reaches the handler. A failure
// is an error in c.Errors, a status other than 2xx, neither a status nor a body, or a
// panic. c.Status(200) without a body is success and is sent unchanged. A handler that
// sets nothing has not responded: xmiddle.ResponseMiddleware sends DEVELOPER_ERROR.
//
// Work is lost in two cases: the process exits in the handler, or the handler fails after
// the sender timed out and got 200 for a retry. To prevent both, store the ID in the
// transaction of the handler instead.
//
// WithSeen panics if a function is nil.
func WithSeen(
	first func(ctx context.Context, id string) (isNew bool, err error),
	forget func(ctx context.Context, id string) error,
) MiddlewareOption {
	if first == nil || forget == nil {
		panic("webhook/receiver: WithSeen needs both functions")
	}
	return func(m *middleware) { m.first, m.forget = first, forget }
}

// Middleware returns a handler that passes only requests verified by v. It reads the body
// up to the limit and restores it for the next handler; DeliveryFrom returns the ID.
// Other requests get 401 SIGNATURE_INVALID, regardless of the cause, or 413
// PAYLOAD_TOO_LARGE. Middleware panics if v is nil. Nil options are skipped.
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
		reject(c, err)
		return
	}
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), deliveryKey{}, d))
	if m.first == nil {
		c.Next()
		return
	}
	switch first, err := m.first(c.Request.Context(), d.ID); {
	case err != nil:
		reject(c, fmt.Errorf("webhook/receiver: store the ID: %w", err))
	case first:
		m.next(c, d)
	default:
		c.Abort()
		xresult.Success(c, "processed before")
	}
}

// next calls the handler and removes the ID if it fails.
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
			m.log.Error(ctx, "webhook id not removed; retries will not reach the handler",
				slog.String("webhook_id", d.ID), slog.Any("error", err))
		}
	}()
	w := &statusWriter{ResponseWriter: c.Writer}
	c.Writer = w
	c.Next()
	if done = w.succeeded() && len(c.Errors) == 0; done && !w.Written() {
		// The stored ID counts as processed, so the response must be sent:
		// ResponseMiddleware treats an unwritten 200 as no response.
		w.WriteHeaderNow()
	}
	c.Writer = w.ResponseWriter
}

// statusWriter records the status that a handler sets. The wrapped writers do not provide
// it: if a handler sets no status, the writer of gin returns 200, and the writer of
// Plinth returns the status of the error response that follows.
type statusWriter struct {
	gin.ResponseWriter

	status int // 0 if the handler set no status
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(code int) {
	w.status = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// succeeded reports whether the handler responded with 2xx.
func (w *statusWriter) succeeded() bool {
	status := w.status
	if w.Written() {
		status = w.Status()
	}
	return status >= http.StatusOK && status < http.StatusMultipleChoices
}

// receive reads and verifies the request. It reads the body only if the headers are
// valid.
func (m *middleware) receive(c *gin.Context) (Delivery, error) {
	h, err := m.verifier.parseHeader(c.Request.Header)
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
	_ = c.Request.Body.Close() // the body was read completely
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	c.Request.ContentLength = int64(len(body))
	return d, nil
}

// reject aborts with the error code of err; see mapError.
func reject(c *gin.Context, err error) {
	c.Abort()
	xresult.Fail(c, err)
}

type deliveryKey struct{}

// DeliveryFrom returns the delivery that Middleware verified. ctx is the *gin.Context,
// the context of its request, or one derived from it.
func DeliveryFrom(ctx context.Context) (Delivery, bool) {
	d, ok := xctx.Unpooled(ctx).Value(deliveryKey{}).(Delivery)
	return d, ok
}
