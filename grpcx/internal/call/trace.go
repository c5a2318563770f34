package call

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/internal/meta"
)

var (
	requestUUID    = meta.NewKey(constant.MetadataRequestUUID)
	requestSource  = meta.NewKey(constant.MetadataRequestSource)
	acceptLanguage = meta.NewKey(constant.MetadataAcceptLanguage)
)

// identify sets the request ID and the language of the call. It accepts the caller's ID
// if it is valid and generates one otherwise.
func identify(ctx context.Context, r *xctx.Request) {
	md := meta.Incoming(ctx)
	if id := meta.First(md, requestUUID); xctx.ValidID(id) {
		r.SetID(id)
	} else {
		r.GenerateID()
		// The HPACK table of a connection retains the last IDs sent, about 50. Without
		// Clone, it would also retain r and its messages.
		r.SetID(strings.Clone(r.ID()))
	}
	r.SetAcceptLanguage(meta.First(md, acceptLanguage))
}

// trailers contains reusable maps for setTrailer. They save two allocations per call; see
// TestUnary_Allocations.
var trailers = sync.Pool{New: func() any { return metadata.MD{} }}

// setTrailer sends the request ID in the trailer. The map is reused only if InFlight is
// set, that is, in the Runner: grpc-go's server copies the map, but another transport may
// retain it.
func (t *invocation) setTrailer(set func(metadata.MD)) {
	key, value := constant.TrailerRequestUUID.String(), t.call.request.HeaderValue()
	if t.InFlight == nil {
		set(metadata.MD{key: value})
		return
	}
	md := trailers.Get().(metadata.MD)
	md[key] = value
	set(md)
	md[key] = nil
	trailers.Put(md)
}

// InFlight counts in-flight calls. The zero value is ready to use. It is safe for
// concurrent use.
type InFlight struct {
	// Unary and Streams are the numbers of in-flight calls.
	Unary, Streams atomic.Int64
}

func (f *InFlight) counter(info any) *atomic.Int64 {
	if _, unary := info.(*grpc.UnaryServerInfo); unary {
		return &f.Unary
	}
	return &f.Streams
}

func (f *InFlight) enter(info any) { f.counter(info).Add(1) }

func (f *InFlight) leave(info any) { f.counter(info).Add(-1) }
