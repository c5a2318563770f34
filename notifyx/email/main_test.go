package email_test

import (
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xlog"
)

func TestMain(m *testing.M) {
	quiet, err := xlog.New(xlog.Config{Level: slog.LevelError, Writer: io.Discard})
	must(err)
	xlog.SetDefault(quiet)
	goleak.VerifyTestMain(m)
}
