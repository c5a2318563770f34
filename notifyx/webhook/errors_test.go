package webhook_test

import (
	"fmt"
	"testing"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xWebhook "github.com/plinthgo/plinth/notifyx/webhook"
)

func TestErrorsHaveTheirCodes(t *testing.T) {
	newClient(t) // whoever sends or receives has the mapping
	for _, c := range []struct {
		err  error
		want *xError.ErrorCode
	}{
		{xWebhook.ErrURL, xError.InvalidValue},
		{xWebhook.ErrBlockedAddress, xError.InvalidValue},
		{xWebhook.ErrEndpoint, xError.InvalidValue},
		{xWebhook.ErrSecret, xError.InvalidValue},
		{xWebhook.ErrUnknownEndpoint, xError.NotExist},
		{xWebhook.ErrEvent, xError.DeveloperError},
		{xWebhook.ErrPayloadTooLarge, xError.DeveloperError},
		{xWebhook.ErrOption, xError.ConfigError},
		{xWebhook.ErrTimeout, xError.UpstreamTimeout},
		{xWebhook.ErrConnection, xError.WebhookError},
		{xWebhook.ErrResponseTooLarge, xError.WebhookError},
		{&xWebhook.StatusError{Status: 500}, xError.WebhookError},
		{&xWebhook.CircuitOpenError{}, xError.CircuitBreaker},
		{xWebhook.ErrHeader, xError.SignatureInvalid},
		{xWebhook.ErrTimestamp, xError.SignatureInvalid},
		{xWebhook.ErrSignature, xError.SignatureInvalid},
		{xWebhook.ErrBodyTooLarge, xError.PayloadTooLarge},
	} {
		if got := xError.From(fmt.Errorf("wrapped: %w", c.err)).GetErrorCode(); got != c.want {
			t.Errorf("%v is %v, want %v", c.err, got, c.want)
		}
	}
}
