// Package meta reads the metadata of a call. The server interceptors, the handlers'
// helpers and the client share it.
//
// All functions are safe for concurrent use.
package meta

import (
	"context"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/constant"
)

// Key contains the two spellings of a metadata key in lower case: with underscores and
// with dashes.
type Key [2]string

// NewKey returns the spellings of key, ignoring case. It may allocate, so store its
// result.
func NewKey(key constant.Metadata) Key {
	key = constant.Metadata(strings.ToLower(key.String()))
	return Key{key.String(), key.Dashed()}
}

// First returns the first non-blank value of key, unmodified, or "". Values in the key's
// own spelling precede those with dashes. A value that consists of white space is blank.
//
// The keys of md must be lower case. md may be nil.
func First(md metadata.MD, key Key) string {
	if v := firstNonBlank(md[key[0]]); v != "" || key[0] == key[1] {
		return v
	}
	return firstNonBlank(md[key[1]])
}

func firstNonBlank(values []string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// Has reports whether md contains a value of key in either spelling, even a blank one.
// The keys of md must be lower case. md may be nil.
func Has(md metadata.MD, key Key) bool {
	return len(md[key[0]]) > 0 || len(md[key[1]]) > 0
}

// Incoming returns the incoming metadata of a call, or nil. The caller must not modify
// it.
//
// metadata.FromIncomingContext copies all pairs, and metadata.ValueFromIncomingContext
// scans every key if the key is missing; these scans were half of the run time of the
// interceptor chain. Incoming therefore reads the map from the context without a copy. If
// a future grpc stores the metadata differently, Incoming falls back to
// FromIncomingContext.
func Incoming(ctx context.Context) metadata.MD {
	md, ok := ctx.Value(incomingKey).(metadata.MD)
	if !ok {
		md, _ = metadata.FromIncomingContext(ctx)
	}
	return md
}

// incomingKey is the unexported context key of package metadata, recorded by looking up
// the metadata once.
var incomingKey = func() any {
	recorder := &keyRecorder{Context: context.Background()}
	_, _ = metadata.FromIncomingContext(recorder)
	return recorder.key
}()

// keyRecorder is a context that records the last key looked up.
type keyRecorder struct {
	context.Context
	key any
}

// Value implements context.Context.
func (r *keyRecorder) Value(key any) any {
	r.key = key
	return nil
}
