package snippets_test

import (
	"testing"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
)

func xsnowflakeMake(use func(id xSnowflake.SnowflakeID)) error {
	node, err := xSnowflake.NewNode(xSnowflake.WithDatacenterID(1), xSnowflake.WithNodeID(2))
	if err != nil {
		return err
	}
	defer node.Close() //nolint:errcheck // a number that was given by hand is not given back

	id, err := node.Generate(xSnowflake.GeneOrder)
	use(id)
	return err
}

func TestIDHasItsParts(t *testing.T) {
	t.Parallel()
	if err := xsnowflakeMake(func(id xSnowflake.SnowflakeID) {
		if id.Gene() != xSnowflake.GeneOrder || id.DatacenterID() != 1 || id.NodeID() != 2 {
			t.Errorf("id = %s: gene %s, datacenter %d, node %d", id, id.Gene(), id.DatacenterID(), id.NodeID())
		}
	}); err != nil {
		t.Error(err)
	}
}
