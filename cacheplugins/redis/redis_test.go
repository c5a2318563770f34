package redis_test

import (
	"testing"

	_ "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	_ "github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xlease/leasetest"
)

func TestMain(m *testing.M) {
	leasetest.Child(openLeases)
	goleak.VerifyTestMain(m)
}
