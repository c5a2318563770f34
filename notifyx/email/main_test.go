package email_test

import (
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
)

func TestMain(m *testing.M) {
	quiet, err := xLog.New(xLog.Config{Level: slog.LevelError, Writer: io.Discard})
	must(err)
	xLog.SetDefault(quiet)
	goleak.VerifyTestMain(m)
}
