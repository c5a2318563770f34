package client

import (
	"context"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/internal/meta"
)

// maxLanguages limits the Accept-Language that is forwarded, in bytes. Browsers may send
// any length, and servers read at most this many bytes.
const maxLanguages = 256

// outgoing adds metadata and a timeout to calls, and converts their errors.
type outgoing struct {
	source  string
	timeout time.Duration
}

// unary implements grpc.UnaryClientInterceptor.
func (c *outgoing) unary(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
	next grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	ctx, id := c.addMetadata(ctx)
	if _, hasDeadline := ctx.Deadline(); !hasDeadline && c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return wrapError(method, id, next(ctx, method, request, reply, conn, options...))
}

// stream implements grpc.StreamClientInterceptor.
func (c *outgoing) stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	next grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	ctx, id := c.addMetadata(ctx)
	s, err := next(ctx, desc, conn, method, options...)
	if err = wrapError(method, id, err); err != nil {
		return nil, err
	}
	return &stream{ClientStream: s, method: method, id: id}, nil
}

// addMetadata adds the request ID, the source and the language to the outgoing metadata,
// unless the caller set them. The returned id is not "" if it was generated here.
//
// A call outside a request, such as a call of a job, has no ID yet. The client generates
// one, so that all attempts share it, and the error and inner interceptors report it even
// if no server responds.
func (c *outgoing) addMetadata(ctx context.Context) (_ context.Context, id string) {
	md, _ := metadata.FromOutgoingContext(ctx)
	var buffer [6]string
	pairs := buffer[:0]
	if text := languages(ctx); text != "" && !meta.Has(md, keyLanguage) {
		pairs = append(pairs, constant.MetadataAcceptLanguage.String(), text)
	}
	if c.source != "" && !meta.Has(md, keySource) {
		pairs = append(pairs, constant.MetadataRequestSource.String(), c.source)
	}
	if !meta.Has(md, keyID) {
		requestID := xctxutil.GetRequestKey(ctx)
		if !xctx.ValidID(requestID) { // servers replace an invalid ID
			id = newID()
			requestID = id
			ctx = context.WithValue(ctx, xctx.RequestKey, id)
		}
		pairs = append(pairs, constant.MetadataRequestUUID.String(), requestID)
	}
	if len(pairs) > 0 {
		ctx = metadata.AppendToOutgoingContext(ctx, pairs...)
	}
	return ctx, id
}

// The keys that the caller may set in the outgoing metadata.
var (
	keyLanguage = meta.NewKey(constant.MetadataAcceptLanguage)
	keySource   = meta.NewKey(constant.MetadataRequestSource)
	keyID       = meta.NewKey(constant.MetadataRequestUUID)
	keyAccessID = meta.NewKey(constant.MetadataAppAccessID)
	keySecret   = meta.NewKey(constant.MetadataAppSecretKey)
)

func newID() string {
	var r xctx.Request
	r.GenerateID()
	return r.ID()
}

// languages returns the Accept-Language of the request in ctx, or "". It contains whole
// language ranges of at most maxLanguages bytes in printable ASCII.
func languages(ctx context.Context) string {
	r := xctx.RequestFrom(ctx)
	if r == nil {
		return ""
	}
	text := r.AcceptLanguage()
	if len(text) > maxLanguages {
		text = text[:max(0, strings.LastIndexByte(text[:maxLanguages+1], ','))]
	}
	if !printable(text) {
		return ""
	}
	return text
}

// stream is a grpc.ClientStream with converted errors. io.EOF is returned unchanged.
type stream struct {
	grpc.ClientStream
	method, id string
}

// Header implements grpc.ClientStream.
func (s *stream) Header() (metadata.MD, error) {
	md, err := s.ClientStream.Header()
	return md, s.wrapError(err)
}

// CloseSend implements grpc.ClientStream.
func (s *stream) CloseSend() error { return s.wrapError(s.ClientStream.CloseSend()) }

// SendMsg implements grpc.ClientStream.
func (s *stream) SendMsg(message any) error { return s.wrapError(s.ClientStream.SendMsg(message)) }

// RecvMsg implements grpc.ClientStream.
func (s *stream) RecvMsg(message any) error { return s.wrapError(s.ClientStream.RecvMsg(message)) }

func (s *stream) wrapError(err error) error {
	if err == io.EOF { // callers compare with io.EOF by ==
		return err
	}
	return wrapError(s.method, s.id, err)
}
