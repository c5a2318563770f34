package doctor

import (
	"context"
	"errors"
	"fmt"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// checkNode looks at the number of the id node, which no two replicas may share.
func (p *patient) checkNode(ctx context.Context) []Finding {
	if key := p.wrong(xEnv.SnowflakeNodeID, xEnv.SnowflakeDatacenterID, xEnv.LeaseBackend); key != "" {
		return []Finding{skipped("%s is wrong", key)}
	}
	found := p.checkBackend()
	_, isNode := xEnv.GetEnv(xEnv.SnowflakeNodeID)
	_, isDatacenter := xEnv.GetEnv(xEnv.SnowflakeDatacenterID)
	if isNode || isDatacenter {
		if wrong := p.checkNumbers(ctx); len(wrong) > 0 {
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
		"replicas on several, or in containers, need a database or cache server, or a %s each", xEnv.SnowflakeNodeID))
}

// checkNumbers holds the numbers against the id layout.
func (p *patient) checkNumbers(ctx context.Context) []Finding {
	if p.Mentions("xSnowflake.WithLayout") || p.Mentions("xsnowflake.WithLayout") {
		return []Finding{skipped("the code chooses an id layout of its own, which says what numbers there are")}
	}
	layout, err := xSnowflake.LayoutNamed(xEnv.String(xEnv.SnowflakeLayout))
	if err != nil {
		return []Finding{skipped("%s is wrong", xEnv.SnowflakeLayout)}
	}
	node, err := xSnowflake.NewNodeContext(
		ctx, xSnowflake.WithLayout(layout), xSnowflake.WithNodeID(xEnv.Int(xEnv.SnowflakeNodeID)), xSnowflake.WithDatacenterID(xEnv.Int(xEnv.SnowflakeDatacenterID)),
	)
	if err == nil {
		_ = node.Close() //nolint:contextcheck // it takes none
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
	id := xEnv.Int(xEnv.SnowflakeNodeID)
	_, origin := p.Value(xEnv.Lookup(xEnv.SnowflakeNodeID))
	if origin != service.FromEnvironment && leaseKeeper() != "" {
		return warning(fmt.Sprintf("%s=%d stands in %s: replicas that share it make the same ids", xEnv.SnowflakeNodeID, id, place(origin)),
			fmt.Sprintf("remove it: each replica then leases a number from the %s", leaseKeeper()))
	}
	return ok("%s=%d is fixed: every other replica needs another number", xEnv.SnowflakeNodeID, id)
}

// checkBackend reports a backend for leases that the service will not open.
func (p *patient) checkBackend() []Finding {
	backend := xEnv.String(xEnv.LeaseBackend)
	for name, key := range map[string]xEnv.EnvKey{"database": xEnv.DatabaseDriver, "cache": xEnv.NoSqlDriver} {
		if driver := xEnv.String(key); backend == name && (driver == "" || driver == none) {
			return []Finding{problem(fmt.Sprintf("%s=%s, and %s is not set", xEnv.LeaseBackend, backend, key),
				fmt.Sprintf("set %s, or %s=auto", key, xEnv.LeaseBackend))}
		}
	}
	return nil
}

// leaseKeeper says what on a server can keep leases, by the environment: "" where nothing does.
func leaseKeeper() string {
	backend := xEnv.String(xEnv.LeaseBackend)
	onServer := func(key xEnv.EnvKey, local string) bool {
		driver := xEnv.String(key)
		return driver != "" && driver != none && driver != local
	}
	switch {
	case backend != "cache" && backend != none && onServer(xEnv.DatabaseDriver, "sqlite"):
		return "database"
	case backend != "database" && backend != none && onServer(xEnv.NoSqlDriver, "memory"):
		return "cache"
	default:
		return ""
	}
}
