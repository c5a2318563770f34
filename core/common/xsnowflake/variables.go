package xsnowflake

import (
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

const (
	layoutKey   xenv.EnvKey = "SNOWFLAKE_LAYOUT"
	leaseDirKey xenv.EnvKey = "SNOWFLAKE_LEASE_DIR"
)

func init() { xenv.Register[variables]("IDs") }

type variables struct {
	DatacenterID int           `env:"SNOWFLAKE_DATACENTER_ID" doc:"Datacenter ID of the node, 0 to 7 in the default layout; leased if neither ID is set."`
	NodeID       int           `env:"SNOWFLAKE_NODE_ID" doc:"Node ID, 0 to 7 in the default layout; leased if neither ID is set."`
	Layout       string        `env:"SNOWFLAKE_LAYOUT" default:"default" oneof:"default wide java java-gene" doc:"Layout of the IDs: 64 nodes and 64 genes (default), 1024 nodes and 64 genes (wide), 1024 nodes without genes (java), 128 nodes and 256 genes (java-gene). All replicas must use the same layout."`
	LeaseDir     string        `env:"SNOWFLAKE_LEASE_DIR" doc:"Directory of the files that lease node IDs on one host; by default in the system's temporary directory."`
	LeaseTTL     time.Duration `env:"SNOWFLAKE_LEASE_TTL" default:"30s" min:"3s" max:"1h" doc:"TTL of a leased node ID after each renewal, in the database or the cache server."`
}
