package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is the version of otter in the report.
const engine = "otter v2"

var invalid = map[string]driver.Config{
	"negative TTL":         {Source: xenv.Map{"NOSQL_MEMORY_DEFAULT_TTL": "-1s"}},
	"negative limit":       {MaxEntries: -1},
	"negative shard count": {Source: xenv.Map{"NOSQL_MEMORY_SHARD_COUNT": "-1"}},
	"too many shards":      {Source: xenv.Map{"NOSQL_MEMORY_SHARD_COUNT": "1048576"}},
}

func TestConformance(t *testing.T) {
	cachetest.Run(t, cachetest.Harness{
		Driver: memory.Driver{}, FakeClock: true, Invalid: invalid,
		Source: "in process, fake clock", Server: engine,
	})
}

func TestConformance_RealTime(t *testing.T) {
	cachetest.Run(t, cachetest.Harness{
		Driver: memory.Driver{}, Source: "in process", Server: engine,
	})
}

func TestConformance_OneShard(t *testing.T) {
	cachetest.Run(t, cachetest.Harness{
		Driver: memory.Driver{}, FakeClock: true,
		Source: "in process, one shard", Server: engine,
		Config: func(testing.TB) driver.Config {
			return driver.Config{Source: xenv.Map{"NOSQL_MEMORY_SHARD_COUNT": "1"}}
		},
	})
}
