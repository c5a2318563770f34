package xsnowflake_test

import (
	"testing"

	"go.uber.org/goleak"

	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
)

// roleVariable makes the test binary play a process that makes ids; see process_test.go.
const roleVariable xEnv.EnvKey = "XSNOWFLAKE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role, ok := xEnv.GetEnv(roleVariable); ok {
		play(role)
		return
	}
	goleak.VerifyTestMain(m)
}
