// Package utility reads what came with a call.
//
// Every function is safe for concurrent use, takes a nil context for an empty one, and
// works in unary handlers and, with the stream's context, in streaming ones.
package utility

import (
	"context"
	"fmt"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/internal/meta"
)

// ExtractMetadata returns the first value that the client sent under key and that is not
// blank, exactly as it was sent.
//
// Capitals in the key do not matter. The spelling with dashes is read after the key's
// own. Blank is what has nothing but white space in it. Where no value is left the error
// is NotExist, whose message names the key; values never appear in it.
func ExtractMetadata(ctx context.Context, key constant.Metadata) (string, *xerror.Error) {
	if value := first(ctx, meta.NewKey(key)); value != "" {
		return value, nil
	}
	return "", xerror.New(xerror.NotExist,
		xerror.ErrMessage(fmt.Sprintf("the metadata of the call has no value under %q",
			key.String())))
}

// Source returns the name of the service that calls, or "". The client says it, so it
// proves nothing.
func Source(ctx context.Context) string { return first(ctx, requestSource) }

var requestSource = meta.NewKey(constant.MetadataRequestSource)

// RequestUUID returns the request id of the call, or "" outside of calls. It is the
// client's where that was valid, else the server's; the client reads it in the trailer.
func RequestUUID(ctx context.Context) string { return xctxutil.GetRequestKey(ctx) }

// first is meta.First of what came with the call.
func first(ctx context.Context, key meta.Key) string {
	if ctx == nil {
		return ""
	}
	return meta.First(meta.Incoming(ctx), key)
}
