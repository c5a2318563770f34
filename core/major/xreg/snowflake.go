package xreg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// snowflakePhase returns the phase that starts the ID node. The node may lease its node
// ID.
func snowflakePhase(p *startup.Plan) *startup.Phase {
	var n *xsnowflake.Node
	removeDefault := func() {}
	return &startup.Phase{
		Name: "snowflake", Key: xctx.SnowflakeNodeKey, Err: checkSnowflake(p.Snowflake),
		Start: func(ctx context.Context) (_ any, err error) {
			n, err = startSnowflake(ctx, p.Snowflake)
			if err == nil && p.DefaultNode {
				removeDefault = xsnowflake.SetDefault(n)
			}
			return n, err
		},
		Detail: func() string { return describeNode(n) },
		Health: func(ctx context.Context) error { return idHealth(n.CheckHealth(ctx)) },
		Close: func(context.Context) error {
			removeDefault()
			return n.Close()
		},
	}
}

// idHealth converts the health of the ID node. err may be nil.
func idHealth(err error) error {
	switch {
	case errors.Is(err, xsnowflake.ErrWaiting):
		return xhook.Degraded("waiting") // all replicas may wait at once and must stay ready
	case err != nil:
		// the same error code as for callers of Generate
		return xerror.Wrap(xerror.ServiceUnavailable, "", err)
	default:
		return nil
	}
}

func describeNode(n *xsnowflake.Node) string {
	if !n.Leased() {
		return n.Source() + ", on first use"
	}
	return fmt.Sprintf("datacenter %d, node %d", n.DatacenterID(), n.NodeID())
}

// startSnowflake creates the ID node and logs the node ID and its source, because two
// nodes with the same node ID generate the same IDs.
func startSnowflake(ctx context.Context, opts []xsnowflake.Option) (*xsnowflake.Node, error) {
	n, err := newNode(opts, nodeLeases(ctx)...)
	if err != nil {
		return nil, err
	}
	if err := n.Prepare(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	source := n.Source()
	if len(opts) > 0 {
		source = "xoption.WithSnowflake: " + source
	} else if _, set := xenv.GetEnv(xenv.SnowflakeNodeID); set {
		source = xenv.SnowflakeNodeID.String()
	}
	logSnowflake(ctx, n, source)
	return n, nil
}

// newNode creates the ID node of opts, or of the environment if opts is empty. leases
// replace the lease directory.
func newNode(opts []xsnowflake.Option, leases ...xsnowflake.Option) (*xsnowflake.Node, error) {
	if len(opts) > 0 {
		return xsnowflake.NewNode(append(leases, opts...)...)
	}
	return xsnowflake.FromEnv(leases...)
}

// nodeLeases returns the option to lease node IDs from the application's leases, if these
// cover a cluster. Otherwise the node leases its ID in a directory of the host.
func nodeLeases(ctx context.Context) []xsnowflake.Option {
	leases, _ := ctx.Value(xctx.LeasesKey).(*xlease.Leases)
	if leases == nil || leases.Capabilities().Scope < driver.Cluster {
		return nil
	}
	return []xsnowflake.Option{xsnowflake.WithLeases(leases, 0)}
}

func logSnowflake(ctx context.Context, n *xsnowflake.Node, source string) {
	attrs := []slog.Attr{slog.String("source", source), slog.String("layout", n.Layout().Name)}
	if n.Leased() {
		attrs = append(attrs, slog.Int("datacenter", n.DatacenterID()),
			slog.Int("node", n.NodeID()))
	}
	initLog.Info(ctx, "id node", attrs...)
	if n.HostLocal() && inContainer(os.DirFS("/")) {
		initLog.Warn(ctx, "node ID leased through a file that other containers do not share: "+
			"replicas may generate equal IDs",
			slog.String("fix",
				"lease it in a database or in Redis ("+xenv.LeaseBackend.String()+"), or set "+
					xenv.SnowflakeDatacenterID.String()+" and "+xenv.SnowflakeNodeID.String()+
					" for each replica"))
	}
}

// checkSnowflake validates the node ID of the options or of the environment without
// acquiring a lease.
func checkSnowflake(opts []xsnowflake.Option) error {
	n, err := newNode(opts)
	if err != nil {
		return cmp.Or(errors.Unwrap(err), err) // without the package prefix
	}
	return n.Close()
}
