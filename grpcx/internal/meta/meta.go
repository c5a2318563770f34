// Package meta reads the metadata of a call: what the server, its handlers and the
// client's connection have in common.
//
// Everything is safe for concurrent use.
package meta

import (
	"context"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/constant"
)

// Spellings are the two of a key, in lower case: its own, and the one with dashes.
type Spellings [2]string

// Spell returns the spellings of a key, in which capitals do not matter. For a key of the
// framework it is called once, since it may allocate.
func Spell(key constant.Metadata) Spellings {
	key = constant.Metadata(strings.ToLower(key.String()))
	return Spellings{key.String(), key.Dashed()}
}

// First returns the first value under a key that is not blank, exactly as it was sent, or
// "". All values in the key's own spelling come before those with dashes; blank is what
// has nothing but white space in it.
//
// The keys of md are lower case, as they travel. It may be nil.
func First(md metadata.MD, key Spellings) string {
	if v := present(md[key[0]]); v != "" || key[0] == key[1] {
		return v
	}
	return present(md[key[1]])
}

// present returns the first value that is not blank, or "".
func present(values []string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// Holds reports whether md has a value under a key in either spelling, be it blank. The
// keys of md are lower case. It may be nil.
func Holds(md metadata.MD, key Spellings) bool {
	return len(md[key[0]]) > 0 || len(md[key[1]]) > 0
}

// Incoming returns the metadata of a call, to be read only; nil where ctx has none.
//
// The readers of package metadata copy what they find and look at every key when they
// find nothing, which for the keys that most calls lack is half the time of the whole
// chain. So the value is taken from the context as it lies there; if grpc ever keeps it
// in another way, Incoming falls back on the copy.
func Incoming(ctx context.Context) metadata.MD {
	md, ok := ctx.Value(incomingKey).(metadata.MD)
	if !ok {
		md, _ = metadata.FromIncomingContext(ctx)
	}
	return md
}

// incomingKey is the key under which a context has the metadata. Package metadata does
// not export it, but asks for it.
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
