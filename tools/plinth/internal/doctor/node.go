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
	if key := p.wrong(xenv.SnowflakeNodeID, xenv.SnowflakeDatacenterID, xenv.LeaseBackend); key != "" {
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
		"replicas on several, or in containers, need a database or cache server, or a %s each", xenv.SnowflakeNodeID))
}

// checkNumbers holds the numbers against the id layout.
func (p *patient) checkNumbers() []Finding {
	if p.Mentions("xsnowflake.WithLayout") || p.Mentions("xSnowflake.WithLayout") {
		return []Finding{skipped("the code chooses an id layout of its own, which says what numbers there are")}
	}
	layout, err := xsnowflake.LayoutNamed(text("SNOWFLAKE_LAYOUT"))
	if err != nil {
		return []Finding{skipped("%s is wrong", "SNOWFLAKE_LAYOUT")}
	}
	node, err := xsnowflake.NewNode(
		xsnowflake.WithLayout(layout), xsnowflake.WithNodeID(number(xenv.SnowflakeNodeID)), xsnowflake.WithDatacenterID(number(xenv.SnowflakeDatacenterID)),
	)
	if err == nil {
		_ = node.Close()
		return nil
	}
	var found []Finding
	for _, line := range split(errors.Unwrap(err)) {
		found = append(found, problem(line, "set a number that is accepted, or none: then one is leased"))
	}
	return found
}

// fixedNumber is what there is to say about a number that was given.
func (p *patient) fixedNumber() Finding {
	id := number(xenv.SnowflakeNodeID)
	_, origin := p.Value(service.Variable{Var: xenv.Lookup(xenv.SnowflakeNodeID), Set: true})
	if origin != service.FromEnvironment && leaseKeeper() != "" {
		return warning(fmt.Sprintf("%s=%d stands in %s: replicas that share it make the same ids", xenv.SnowflakeNodeID, id, place(origin)),
			fmt.Sprintf("remove it: each replica then leases a number from the %s", leaseKeeper()))
	}
	return ok("%s=%d is fixed: every other replica needs another number", xenv.SnowflakeNodeID, id)
}

// checkBackend reports a backend for leases that the service will not open.
func (p *patient) checkBackend() []Finding {
	backend := text(xenv.LeaseBackend)
	for name, key := range map[string]xenv.EnvKey{"database": xenv.DatabaseDriver, "cache": xenv.NoSqlDriver} {
		if driver := text(key); backend == name && (driver == "" || driver == none) {
			return []Finding{problem(fmt.Sprintf("%s=%s, and %s is not set", xenv.LeaseBackend, backend, key),
				fmt.Sprintf("set %s, or %s=auto", key, xenv.LeaseBackend))}
		}
	}
	return nil
}

// leaseKeeper says what on a server can keep leases, by the environment: "" where nothing does.
func leaseKeeper() string {
	backend := text(xenv.LeaseBackend)
	onServer := func(key xenv.EnvKey, local string) bool {
		driver := text(key)
		return driver != "" && driver != none && driver != local
	}
	switch {
	case backend != "cache" && backend != none && onServer(xenv.DatabaseDriver, "sqlite"):
		return "database"
	case backend != "database" && backend != none && onServer(xenv.NoSqlDriver, "memory"):
		return "cache"
	default:
		return ""
	}
}
