package redis_test

import (
	"testing"

	_ "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/conformance/leasetest"
	_ "github.com/plinthgo/plinth/core/major/xcache"
)

func TestMain(m *testing.M) {
	leasetest.Child(openLeases)
	goleak.VerifyTestMain(m)
}
