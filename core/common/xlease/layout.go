package xlease

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// layoutName is the name of the record that all nodes of one layout hold together.
const layoutName = NodeName + ".layout"

// errOtherLayout reports that processes with another layout hold numbers.
var errOtherLayout = errors.New("xlease: id nodes with another layout share the backend")

// joinLayout takes or renews the record of the layout. Its holder is the layout and not a process, so that
// processes of one layout share it and those of another are refused. A node joins before it takes or renews
// its number, so the record outlives the number. It ends a TTL after the last node.
func (n nodeLeaser) joinLayout(ctx context.Context) error {
	if n.layout == nil {
		return nil
	}
	backend, holder := n.leases.backend, layoutHolder(*n.layout)
	renew := func() (bool, error) {
		return backend.Renew(ctx, driver.Holding{Name: layoutName, Holder: holder, Token: 1, TTL: n.ttl})
	}
	held, err := renew()
	if err != nil || held {
		return layoutError(err)
	}
	grant, err := backend.Acquire(ctx, driver.Request{Name: layoutName, Count: 1, Holder: holder, TTL: n.ttl})
	if err != nil || grant.OK {
		return layoutError(err)
	}
	if held, err = renew(); err != nil || held { // a node of this layout was faster
		return layoutError(err)
	}
	return fmt.Errorf("%w: %s=%s here, another one in %s (all replicas use the same; after a change, stop all and wait for %s)",
		errOtherLayout, xenv.SnowflakeLayout, n.layout.Name, n.leases, n.ttl)
}

func layoutError(err error) error {
	if err != nil {
		return fmt.Errorf("xlease: layout of the id nodes: %w", err)
	}
	return nil
}

// layoutHolder names a layout by what makes its ids differ from those of others.
func layoutHolder(l xsnowflake.Layout) string {
	sum := fnv.New64a()
	_, _ = fmt.Fprint(sum, l.Epoch, l.Fields) // it does not fail
	return fmt.Sprintf("layout-%016x", sum.Sum64())
}
