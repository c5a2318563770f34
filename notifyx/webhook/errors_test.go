package webhook_test

import (
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx/webhook"
)

func TestErrorsHaveTheirCodes(t *testing.T) {
	newClient(t) // whoever sends or receives has the mapping
	for _, c := range []struct {
		err  error
		want *xerror.ErrorCode
	}{
		{webhook.ErrURL, xerror.InvalidValue},
		{webhook.ErrBlockedAddress, xerror.InvalidValue},
		{webhook.ErrEndpoint, xerror.InvalidValue},
		{webhook.ErrSecret, xerror.InvalidValue},
		{webhook.ErrUnknownEndpoint, xerror.NotExist},
		{webhook.ErrEvent, xerror.DeveloperError},
		{webhook.ErrPayloadTooLarge, xerror.DeveloperError},
		{webhook.ErrOption, xerror.ConfigError},
		{webhook.ErrTimeout, xerror.UpstreamTimeout},
		{webhook.ErrConnection, xerror.WebhookError},
		{webhook.ErrResponseTooLarge, xerror.WebhookError},
		{&webhook.StatusError{Status: 500}, xerror.WebhookError},
		{&webhook.CircuitOpenError{}, xerror.CircuitBreaker},
		{webhook.ErrHeader, xerror.SignatureInvalid},
		{webhook.ErrTimestamp, xerror.SignatureInvalid},
		{webhook.ErrSignature, xerror.SignatureInvalid},
		{webhook.ErrBodyTooLarge, xerror.PayloadTooLarge},
	} {
		if got := xerror.From(fmt.Errorf("wrapped: %w", c.err)).GetErrorCode(); got != c.want {
			t.Errorf("%v is %v, want %v", c.err, got, c.want)
		}
	}
}
