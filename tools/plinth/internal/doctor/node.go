package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// checkNode looks at the number of the id node, which no two replicas may share.
func (p *patient) checkNode(context.Context) []Finding {
	if key := p.wrong(xenv.SnowflakeNodeID, xenv.SnowflakeDatacenterID,
		xenv.LeaseBackend); key != "" {
		return []Finding{skipped("%s is wrong", key)}
	}
	found := p.checkBackend()
	_, isNode := xenv.GetEnv(xenv.SnowflakeNodeID)
	_, isDatacenter := xenv.GetEnv(xenv.SnowflakeDatacenterID)
	if isNode || isDatacenter {
		if wrong := p.checkNumbers(); len(wrong) > 0 {
			return append(found, wrong...)
		}
	}
	if isNode {
		return append(found, p.fixedNumber())
	}
	if keeper := leaseKeeper(); keeper != "" {
		return append(found, ok("each replica leases a number from the %s", keeper))
	}
	return append(found, ok("each process leases a number through a file: that is for one host; "+
		"replicas on several, or in containers, need a database or cache server, or a %s each",
		xenv.SnowflakeNodeID))
}

// checkNumbers holds the numbers against the id layout.
func (p *patient) checkNumbers() []Finding {
	if p.Mentions("xsnowflake.WithLayout") || p.Mentions("xSnowflake.WithLayout") {
		return []Finding{skipped(
			"the code chooses an id layout of its own, which says what numbers there are")}
	}
	layout, err := xsnowflake.LayoutNamed(text("SNOWFLAKE_LAYOUT"))
	if err != nil {
		return []Finding{skipped("SNOWFLAKE_LAYOUT is wrong")}
	}
	node, err := xsnowflake.NewNode(
		xsnowflake.WithLayout(layout), xsnowflake.WithNodeID(number(xenv.SnowflakeNodeID)),
		xsnowflake.WithDatacenterID(number(xenv.SnowflakeDatacenterID)),
	)
	if err != nil {
		return problems(errors.Unwrap(err),
			"set a number that is accepted, or none: then one is leased")
	}
	_ = node.Close()
	return nil
}

// fixedNumber is what there is to say about a number that was given.
func (p *patient) fixedNumber() Finding {
	id := number(xenv.SnowflakeNodeID)
	_, origin := p.Value(service.Variable{Var: xenv.Lookup(xenv.SnowflakeNodeID), Set: true})
	if origin != service.FromEnvironment && leaseKeeper() != "" {
		return warning(fmt.Sprintf("%s=%d stands in %s: replicas that share it make the same ids",
			xenv.SnowflakeNodeID, id, place(origin)),
			fmt.Sprintf("remove it: each replica then leases a number from the %s", leaseKeeper()))
	}
	return ok("%s=%d is fixed: every other replica needs another number", xenv.SnowflakeNodeID, id)
}

// checkBackend reports a backend for leases that the service will not open.
func (p *patient) checkBackend() []Finding {
	backend := text(xenv.LeaseBackend)
	for name, key := range map[string]xenv.EnvKey{
		"database": xenv.DatabaseDriver,
		"cache":    xenv.NoSqlDriver,
	} {
		if backend == name && driverOf(key) == "" {
			return []Finding{problem(fmt.Sprintf("%s=%s, and %s is not set",
				xenv.LeaseBackend, backend, key),
				fmt.Sprintf("set %s, or %s=auto", key, xenv.LeaseBackend))}
		}
	}
	return nil
}

// leaseKeeper says what on a server can keep leases, by the environment: "" where nothing
// does.
func leaseKeeper() string {
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
