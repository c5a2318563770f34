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
	requestUUID    = meta.Spell(constant.MetadataRequestUUID)
	requestSource  = meta.Spell(constant.MetadataRequestSource)
	acceptLanguage = meta.Spell(constant.MetadataAcceptLanguage)
)

// identify gives the call the caller's id where that is valid, else a new one, and notes
// the caller's languages.
func identify(ctx context.Context, r *xctx.Request) {
	md := meta.Incoming(ctx)
	if id := meta.First(md, requestUUID); xctx.ValidID(id) {
		r.SetID(id)
	} else {
		r.GenerateID()
		// The HPACK table of a connection retains the last 50 or so IDs of trailers. One
		// that is a part of r would retain the call and what it has received.
		r.SetID(strings.Clone(r.ID()))
	}
	r.SetAcceptLanguage(meta.First(md, acceptLanguage))
}

// trailers contains reusable maps for setTrailer. Without them a call has two allocations
// more: see TestChainAllocatesTheCallAndItsID.
var trailers = sync.Pool{New: func() any { return metadata.MD{} }}

// setTrailer sends the ID to the caller. grpc-go copies the map, so the Runner, which
// always has a InFlight, reuses it. The transport of an interceptor outside the Runner
// may retain it.
func (t *turn) setTrailer(set func(metadata.MD)) {
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

// InFlight counts the calls that are being answered. The zero value is ready to use; it
// is safe for concurrent use.
type InFlight struct {
	// Unary and Streams are the calls of either kind.
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
