package receiver_test

import (
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func TestErrorCodes(t *testing.T) {
	verifier(t, signature.NewSecret()) // registers the mapping
	for _, tc := range []struct {
		err  error
		want *xerror.ErrorCode
	}{
		{receiver.ErrHeader, xerror.SignatureInvalid},
		{receiver.ErrTimestamp, xerror.SignatureInvalid},
		{receiver.ErrSignature, xerror.SignatureInvalid},
		{receiver.ErrBodyTooLarge, xerror.PayloadTooLarge},
		{receiver.ErrOption, xerror.ConfigError},
		{signature.ErrSecret, xerror.InvalidValue},
	} {
		if got := xerror.From(fmt.Errorf("wrapped: %w", tc.err)).GetErrorCode(); got != tc.want {
			t.Errorf("%v is %v, want %v", tc.err, got, tc.want)
		}
	}
}
