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

// maxLanguages bounds the Accept-Language that goes along, in bytes. A user's browser may
// send any length, and the next service reads no more.
const maxLanguages = 256

// courier gives to calls what goes along with them, and to their errors a code.
type courier struct {
	source  string
	timeout time.Duration
}

// unary is the interceptor of unary calls.
func (c *courier) unary(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
	next grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	ctx, id := c.load(ctx)
	if _, bounded := ctx.Deadline(); !bounded && c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return failure(method, id, next(ctx, method, request, reply, conn, options...))
}

// stream is the interceptor of streams.
func (c *courier) stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	next grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	ctx, id := c.load(ctx)
	s, err := next(ctx, desc, conn, method, options...)
	if err = failure(method, id, err); err != nil {
		return nil, err
	}
	return &stream{ClientStream: s, method: method, id: id}, nil
}

// load adds to the outgoing metadata what the caller has not put there himself. The id is
// that which the call was given here, or "" where its context had one.
//
// A call outside a request, as a job makes it, gets an id of its own: all its attempts
// have the same one, its error names it, and so do the lines that inner interceptors
// write; one from the server would be another for each attempt, and lost where no server
// answers.
func (c *courier) load(ctx context.Context) (_ context.Context, id string) {
	own, _ := metadata.FromOutgoingContext(ctx)
	var room [6]string
	pairs := room[:0]
	if text := languages(ctx); text != "" && !meta.Has(own, keyLanguage) {
		pairs = append(pairs, constant.MetadataAcceptLanguage.String(), text)
	}
	if c.source != "" && !meta.Has(own, keySource) {
		pairs = append(pairs, constant.MetadataRequestSource.String(), c.source)
	}
	if !meta.Has(own, keyID) {
		known := xctxutil.GetRequestKey(ctx)
		if !xctx.ValidID(known) { // servers take no other
			id = newID()
			known = id
			ctx = context.WithValue(ctx, xctx.RequestKey, id)
		}
		pairs = append(pairs, constant.MetadataRequestUUID.String(), known)
	}
	if len(pairs) > 0 {
		ctx = metadata.AppendToOutgoingContext(ctx, pairs...)
	}
	return ctx, id
}

// The keys that a caller may have put into the outgoing metadata himself.
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

// languages returns the Accept-Language of the user for whom the call is made, as far as
// gRPC can send it: whole ranges within maxLanguages bytes, or "".
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

// stream is a grpc.ClientStream whose errors have a code. io.EOF stays io.EOF.
type stream struct {
	grpc.ClientStream
	method, id string
}

// Header implements grpc.ClientStream.
func (s *stream) Header() (metadata.MD, error) {
	md, err := s.ClientStream.Header()
	return md, s.failure(err)
}

// CloseSend implements grpc.ClientStream.
func (s *stream) CloseSend() error { return s.failure(s.ClientStream.CloseSend()) }

// SendMsg implements grpc.ClientStream.
func (s *stream) SendMsg(message any) error { return s.failure(s.ClientStream.SendMsg(message)) }

// RecvMsg implements grpc.ClientStream.
func (s *stream) RecvMsg(message any) error { return s.failure(s.ClientStream.RecvMsg(message)) }

func (s *stream) failure(err error) error {
	if err == io.EOF { // grpc's sign for the end is this very value
		return err
	}
	return failure(s.method, s.id, err)
}
