package email_test

import (
	"io"
	"log/slog"
	"net/mail"
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

// address returns an address with a name in the form that Message accepts.
func address(name, spec string) string { return (&mail.Address{Name: name, Address: spec}).String() }
