package call

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xGrpcConst "github.com/plinthgo/plinth/grpcx/constant"
)

// identify gives the call the caller's id where that is valid, else a new one, and notes the caller's languages.
func identify(ctx context.Context, r *xCtx.Request) {
	md := incoming(ctx)
	if id := either(md, requestUUID); xCtx.ValidID(id) {
		r.SetID(id)
	} else {
		r.GenerateID()
	}
	r.SetAcceptLanguage(first(md, xGrpcConst.MetadataAcceptLanguage.String()))
}

// trailer returns the trailer that tells the caller the id.
func (c *state) trailer() metadata.MD {
	return metadata.MD{xGrpcConst.TrailerRequestUUID.String(): c.request.HeaderValue()}
}

// spellings are the two of a key: its own, and the one with dashes.
type spellings [2]string

func spell(key xGrpcConst.Metadata) spellings { return spellings{key.String(), key.Dashed()} }

var (
	requestUUID   = spell(xGrpcConst.MetadataRequestUUID)
	requestSource = spell(xGrpcConst.MetadataRequestSource)
)

// either returns the first value under a key, in the spelling that has one.
func either(md metadata.MD, key spellings) string {
	if v := first(md, key[0]); v != "" {
		return v
	}
	return first(md, key[1])
}

func first(md metadata.MD, key string) string {
	if values := md[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// incoming returns the metadata of a call, to be read only.
//
// The readers of package metadata copy what they find and look at every key when they find nothing, which for the keys
// that most calls lack is half the time of the whole chain. So the value is taken from the context as it lies there; if
// grpc ever keeps it in another way, incoming falls back on the copy.
func incoming(ctx context.Context) metadata.MD {
	md, ok := ctx.Value(incomingKey).(metadata.MD)
	if !ok {
		md, _ = metadata.FromIncomingContext(ctx)
	}
	return md
}

// incomingKey is the key under which a context has the metadata. Package metadata does not export it, but asks for it.
var incomingKey = func() any {
	asked := &listener{Context: context.Background()}
	_, _ = metadata.FromIncomingContext(asked)
	return asked.key
}()

// listener is a context that keeps the key that it was asked for.
type listener struct {
	context.Context
	key any
}

// Value implements context.Context.
func (l *listener) Value(key any) any {
	l.key = key
	return nil
}

// Flight counts the calls that are being answered. The zero value is ready to use; it is safe for concurrent use.
type Flight struct {
	// Unary and Streams are the calls of either kind.
	Unary, Streams atomic.Int64
}

func (f *Flight) counter(info any) *atomic.Int64 {
	if _, unary := info.(*grpc.UnaryServerInfo); unary {
		return &f.Unary
	}
	return &f.Streams
}

func (f *Flight) enter(info any) { f.counter(info).Add(1) }

func (f *Flight) leave(info any) { f.counter(info).Add(-1) }
