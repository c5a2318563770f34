package leasetest_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/conformance/leasetest"
)

func TestMain(m *testing.M) {
	leasetest.Child(open)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { os.Exit(code) }))
}
