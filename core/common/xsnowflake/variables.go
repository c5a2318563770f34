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
	DatacenterID int           `env:"SNOWFLAKE_DATACENTER_ID" doc:"Datacenter number of the ID node, 0 to 7 in the default layout; leased if neither number is set."`
	NodeID       int           `env:"SNOWFLAKE_NODE_ID" doc:"Number of the ID node, 0 to 7 in the default layout; leased if neither number is set."`
	Layout       string        `env:"SNOWFLAKE_LAYOUT" default:"default" oneof:"default wide java java-gene" doc:"Layout of the ids: 64 nodes and 64 genes (default), 1024 nodes and 64 genes (wide), 1024 without genes (java), 128 (java-gene). All replicas use the same one."`
	LeaseDir     string        `env:"SNOWFLAKE_LEASE_DIR" doc:"Folder of the files that lease node numbers on one host; by default a folder of the system's temporary one."`
	LeaseTTL     time.Duration `env:"SNOWFLAKE_LEASE_TTL" default:"30s" min:"3s" max:"1h" doc:"How long a leased node number is reserved after each renewal, in the database or the cache server."`
}
