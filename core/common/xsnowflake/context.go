package xsnowflake

import (
	"context"
	"errors"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

var errNoNode = errors.New("xsnowflake: the context has no id node")

// GetNode returns the node that ctx carries under xCtx.SnowflakeNodeKey. Where there is none, the error is
// a ConfigError.
func GetNode(ctx context.Context) (*Node, *xError.Error) {
	if ctx != nil {
		if n, ok := ctx.Value(xCtx.SnowflakeNodeKey).(*Node); ok && n != nil {
			return n, nil
		}
	}
	return nil, xError.Wrap(xError.ConfigError, "", errNoNode)
}

// GenerateSnowflakeID makes an id of GeneDefault with the node of ctx.
func GenerateSnowflakeID(ctx context.Context) (SnowflakeID, *xError.Error) {
	return GenerateGeneSnowflakeID(ctx, GeneDefault)
}

// GenerateGeneSnowflakeID makes an id of the given gene with the node of ctx.
//
// The error is that of GetNode; a DeveloperError for a gene that does not fit; or a ServiceUnavailable,
// which passes. Its cause is that of Node.Generate.
func GenerateGeneSnowflakeID(ctx context.Context, gene Gene) (SnowflakeID, *xError.Error) {
	n, failure := GetNode(ctx)
	if failure != nil {
		return 0, failure
	}
	id, err := n.Generate(gene) //nolint:contextcheck // what it may wait for is bounded by the node
	switch {
	case err == nil:
		return id, nil
	case errors.Is(err, ErrGene):
		return 0, xError.Wrap(xError.DeveloperError, "", err)
	default:
		return 0, xError.Wrap(xError.ServiceUnavailable, "", err)
	}
}

// MustGenerateSnowflakeID is GenerateSnowflakeID for callers who cannot go on without an id: it panics with
// the *xError.Error.
func MustGenerateSnowflakeID(ctx context.Context) SnowflakeID {
	return MustGenerateGeneSnowflakeID(ctx, GeneDefault)
}

// MustGenerateGeneSnowflakeID is GenerateGeneSnowflakeID for callers who cannot go on without an id: it
// panics with the *xError.Error.
func MustGenerateGeneSnowflakeID(ctx context.Context, gene Gene) SnowflakeID {
	id, err := GenerateGeneSnowflakeID(ctx, gene)
	if err != nil {
		panic(err)
	}
	return id
}
