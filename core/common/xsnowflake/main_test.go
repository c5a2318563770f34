package xsnowflake_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// roleVariable makes the test binary run runNode.
const roleVariable xenv.EnvKey = "XSNOWFLAKE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role, ok := xenv.GetEnv(roleVariable); ok {
		runNode(role)
		return
	}
	goleak.VerifyTestMain(m)
}
