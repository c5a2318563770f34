package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// checkNode checks the node ID, which must be unique among replicas.
func (p *target) checkNode(context.Context) []Finding {
	key := p.invalid(xenv.SnowflakeNodeID, xenv.SnowflakeDatacenterID, xenv.LeaseBackend)
	if key != "" {
		return []Finding{skipped("%s is invalid", key)}
	}
	found := p.checkBackend()
	_, isNode := xenv.GetEnv(xenv.SnowflakeNodeID)
	_, isDatacenter := xenv.GetEnv(xenv.SnowflakeDatacenterID)
	if isNode || isDatacenter {
		if problems := p.checkNodeIDs(); len(problems) > 0 {
			return append(found, problems...)
		}
	}
	if isNode {
		return append(found, p.fixedNodeID())
	}
	if server := leaseServer(); server != "" {
		return append(found, ok("each replica leases a node ID from the %s", server))
	}
	return append(found, ok("each process leases a node ID from a file, which works on a single host; "+
		"replicas on several hosts or in containers need a database or cache server, or %s",
		xenv.SnowflakeNodeID))
}

// checkNodeIDs checks the configured IDs against the ID layout.
func (p *target) checkNodeIDs() []Finding {
	if p.Mentions("xsnowflake.WithLayout") || p.Mentions("xSnowflake.WithLayout") {
		return []Finding{skipped(
			"the code sets the ID layout, so the valid node IDs are unknown")}
	}
	layout, err := xsnowflake.LayoutNamed(text("SNOWFLAKE_LAYOUT"))
	if err != nil {
		return []Finding{skipped("SNOWFLAKE_LAYOUT is invalid")}
	}
	node, err := xsnowflake.NewNode(
		xsnowflake.WithLayout(layout), xsnowflake.WithNodeID(number(xenv.SnowflakeNodeID)),
		xsnowflake.WithDatacenterID(number(xenv.SnowflakeDatacenterID)),
	)
	if err != nil {
		return problems(errors.Unwrap(err), "set a valid ID, or unset the variable to lease one")
	}
	_ = node.Close()
	return nil
}

// fixedNodeID returns the finding for a configured node ID.
func (p *target) fixedNodeID() Finding {
	id := number(xenv.SnowflakeNodeID)
	_, origin := p.Value(service.Variable{Var: xenv.Lookup(xenv.SnowflakeNodeID), Set: true})
	if origin != service.FromEnvironment && leaseServer() != "" {
		return warning(fmt.Sprintf(
			"%s=%d is set in %s: replicas that share it generate duplicate IDs",
			xenv.SnowflakeNodeID, id, originName(origin)),
			fmt.Sprintf("remove it, so that each replica leases a node ID from the %s",
				leaseServer()))
	}
	return ok("%s=%d is fixed; every replica needs a different node ID", xenv.SnowflakeNodeID, id)
}

// checkBackend reports a lease backend that the service does not open.
func (p *target) checkBackend() []Finding {
	backend := text(xenv.LeaseBackend)
	for name, key := range map[string]xenv.EnvKey{
		"database": xenv.DatabaseDriver,
		"cache":    xenv.NoSqlDriver,
	} {
		if backend == name && driverOf(key) == "" {
			return []Finding{problem(fmt.Sprintf("%s=%s, but %s is not set",
				xenv.LeaseBackend, backend, key),
				fmt.Sprintf("set %s, or %s=auto", key, xenv.LeaseBackend))}
		}
	}
	return nil
}

// leaseServer returns the server that stores leases: "database", "cache", or "" for a
// file.
func leaseServer() string {
	backend := text(xenv.LeaseBackend)
	database, cache := driverOf(xenv.DatabaseDriver), driverOf(xenv.NoSqlDriver)
	switch {
	case backend != "cache" && backend != "none" && database != "" && database != "sqlite":
		return "database"
	case backend != "database" && backend != "none" && cache != "" && cache != "memory":
		return "cache"
	default:
		return ""
	}
}
