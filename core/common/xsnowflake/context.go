package xsnowflake

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// processNode is the node for code without a context; see SetDefault.
var processNode atomic.Pointer[Node]

// SetDefault makes n the node of the process, for contexts that carry none, and returns a
// function that removes it unless another one has replaced it. xreg.Register calls it;
// libraries must not.
func SetDefault(n *Node) (remove func()) {
	processNode.Store(n)
	return func() { processNode.CompareAndSwap(n, nil) }
}

// GetNode returns the node that ctx carries under xctx.SnowflakeNodeKey, or else that of
// the process, which an application has. If both are missing, the error is a ConfigError.
func GetNode(ctx context.Context) (*Node, *xerror.Error) {
	if ctx != nil {
		if n, _ := ctx.Value(xctx.SnowflakeNodeKey).(*Node); n != nil {
			return n, nil
		}
	}
	if n := processNode.Load(); n != nil {
		return n, nil
	}
	return xctxutil.Get[*Node](context.Background(), xctx.SnowflakeNodeKey)
}

// GenerateSnowflakeID makes an id of GeneDefault with the node of ctx.
func GenerateSnowflakeID(ctx context.Context) (SnowflakeID, *xerror.Error) {
	return GenerateGeneSnowflakeID(ctx, GeneDefault)
}

// GenerateGeneSnowflakeID makes an id of the given gene with the node of ctx.
//
// The error is that of GetNode; a DeveloperError for a gene that does not fit; or a
// ServiceUnavailable, which passes. Its cause is that of Node.Generate.
func GenerateGeneSnowflakeID(ctx context.Context, gene Gene) (SnowflakeID, *xerror.Error) {
	var id [1]SnowflakeID
	err := GenerateSnowflakeIDs(ctx, id[:], gene)
	return id[0], err
}

// GenerateSnowflakeIDs fills dst with ids of one gene, in ascending order, with the node
// of ctx. The errors are those of GenerateGeneSnowflakeID.
func GenerateSnowflakeIDs(ctx context.Context, dst []SnowflakeID, gene Gene) *xerror.Error {
	n, failure := GetNode(ctx)
	if failure != nil {
		return failure
	}
	err := n.Lease(ctx)
	if err == nil {
		err = n.NextN(dst, gene) // what it may wait for is bounded by the node
	}
	if err != nil {
		return xerror.Wrap(cmp.Or(mapError(err), xerror.ServiceUnavailable), "", err)
	}
	return nil
}

// registerMapper gives the errors of a node their codes, once the process has a node.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

func mapError(err error) *xerror.ErrorCode {
	switch {
	case errors.Is(err, errGene):
		return xerror.DeveloperError
	case errors.Is(err, ErrNoSlot), errors.Is(err, ErrClosed), errors.Is(err, errExhausted),
		errors.Is(err, ErrClock), errors.Is(err, xlease.ErrLost):
		return xerror.ServiceUnavailable
	default:
		return nil
	}
}

// MustGenerateSnowflakeID is GenerateSnowflakeID for callers who cannot go on without an
// id: it panics with the *xerror.Error.
func MustGenerateSnowflakeID(ctx context.Context) SnowflakeID {
	return MustGenerateGeneSnowflakeID(ctx, GeneDefault)
}

// MustGenerateGeneSnowflakeID is GenerateGeneSnowflakeID for callers who cannot go on
// without an id: it panics with the *xerror.Error.
func MustGenerateGeneSnowflakeID(ctx context.Context, gene Gene) SnowflakeID {
	id, err := GenerateGeneSnowflakeID(ctx, gene)
	if err != nil {
		panic(err)
	}
	return id
}
