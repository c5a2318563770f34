package snippets_test

import (
	"testing"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

func xsnowflakeGenerate(use func(id xsnowflake.SnowflakeID)) error {
	node, err := xsnowflake.NewNode(xsnowflake.WithDatacenterID(1), xsnowflake.WithNodeID(2))
	if err != nil {
		return err
	}
	defer node.Close() //nolint:errcheck // a configured node ID is not released

	id, err := node.Generate(xsnowflake.GeneOrder)
	use(id)
	return err
}

func TestXSnowflake_Generate(t *testing.T) {
	t.Parallel()
	if err := xsnowflakeGenerate(func(id xsnowflake.SnowflakeID) {
		if id.Gene() != xsnowflake.GeneOrder || id.DatacenterID() != 1 || id.NodeID() != 2 {
			t.Errorf("id = %s: gene %d, datacenter %d, node %d",
				id, id.Gene(), id.DatacenterID(), id.NodeID())
		}
	}); err != nil {
		t.Error(err)
	}
}
