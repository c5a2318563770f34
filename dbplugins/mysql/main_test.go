package mysql_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/conformance/leasetest"
)

// tests closes the idle HTTP connections after the tests.
type tests struct{ *testing.M }

// Run implements goleak.TestingM.
func (t tests) Run() int {
	defer http.DefaultClient.CloseIdleConnections()
	return t.M.Run()
}

func TestMain(m *testing.M) {
	leasetest.Child(openLeases)
	// gorm's prepared statement cache never stops this goroutine.
	goleak.VerifyTestMain(tests{m},
		goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
}
