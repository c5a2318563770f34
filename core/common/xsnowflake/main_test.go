package xsnowflake_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// roleVariable makes the test binary play a process that makes ids; see process_test.go.
const roleVariable xenv.EnvKey = "XSNOWFLAKE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role, ok := xenv.GetEnv(roleVariable); ok {
		play(role)
		return
	}
	goleak.VerifyTestMain(m)
}
