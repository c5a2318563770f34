package xreg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
)

// snowflakePhase starts the id node, before everything else.
func snowflakePhase() xOption.Option {
	return func(p *xOption.Plan) {
		xOption.WithPhase(xOption.Phase{
			Name:  "snowflake",
			Key:   xCtx.SnowflakeNodeKey,
			Check: func(context.Context) error { return checkSnowflake(p) },
			Start: func(ctx context.Context) (any, error) { return startSnowflake(ctx, p.Snowflake) },
			Describe: func(value any) string {
				n, ok := value.(*xSnowflake.Node)
				if !ok {
					return ""
				}
				return fmt.Sprintf("datacenter %d, node %d", n.DatacenterID(), n.NodeID())
			},
		})(p)
	}
}

// startSnowflake makes the id node and says in the log which number it has and why: two with one number make the same ids.
func startSnowflake(ctx context.Context, opts []xSnowflake.Option) (*xSnowflake.Node, error) {
	if len(opts) > 0 {
		n, err := xSnowflake.NewNode(opts...) //nolint:contextcheck // it takes none
		if err != nil {
			return nil, err
		}
		logSnowflake(ctx, n, "xOption.WithSnowflake: "+n.Source())
		return n, nil
	}
	n, err := xSnowflake.FromEnv(ctx)
	if err != nil {
		return nil, err
	}
	source := n.Source()
	if _, set := xEnv.GetEnv(xEnv.SnowflakeNodeID); set {
		source = xEnv.SnowflakeNodeID.String()
	}
	logSnowflake(ctx, n, source)
	return n, nil
}

func logSnowflake(ctx context.Context, n *xSnowflake.Node, source string) {
	initLog.Info(ctx, "id node", slog.Int("datacenter", n.DatacenterID()), slog.Int("node", n.NodeID()), slog.String("source", source))
}

// checkSnowflake checks the numbers of the environment against the layout without taking a lease.
func checkSnowflake(p *xOption.Plan) error {
	if len(p.Snowflake) > 0 {
		return nil
	}
	var errs []error
	layout := xSnowflake.LayoutDefault
	for _, n := range []struct {
		key  xEnv.EnvKey
		part xSnowflake.Part
	}{{xEnv.SnowflakeDatacenterID, xSnowflake.PartDatacenter}, {xEnv.SnowflakeNodeID, xSnowflake.PartNode}} {
		text, set := xEnv.GetEnv(n.key)
		id, err := strconv.Atoi(text)
		if !set || err != nil {
			continue // what is no number is reported with the rest of the environment
		}
		if most := limit(layout, n.part); id < 0 || id > most {
			errs = append(errs, xEnv.Problem(n.key, text, "is out of range for the id layout "+layout.Name,
				fmt.Sprintf("0 to %d", most)))
		}
	}
	return errors.Join(errs...)
}

// limit is the highest number of a part.
func limit(layout xSnowflake.Layout, part xSnowflake.Part) int {
	for _, f := range layout.Fields {
		if f.Part == part {
			return 1<<f.Bits - 1
		}
	}
	return 0
}
