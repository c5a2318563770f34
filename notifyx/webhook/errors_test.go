package webhook_test

import (
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func TestErrorCodes(t *testing.T) {
	newClient(t) // registers the mapping
	for _, c := range []struct {
		err  error
		want *xerror.ErrorCode
	}{
		{webhook.ErrURL, xerror.InvalidValue},
		{webhook.ErrBlockedAddress, xerror.InvalidValue},
		{webhook.ErrEndpoint, xerror.InvalidValue},
		{signature.ErrSecret, xerror.InvalidValue},
		{webhook.ErrUnknownEndpoint, xerror.NotExist},
		{webhook.ErrEvent, xerror.DeveloperError},
		{webhook.ErrPayloadTooLarge, xerror.DeveloperError},
		{webhook.ErrOption, xerror.ConfigError},
		{webhook.ErrTimeout, xerror.UpstreamTimeout},
		{webhook.ErrConnection, xerror.WebhookError},
		{webhook.ErrResponseTooLarge, xerror.WebhookError},
		{&webhook.StatusError{Status: 500}, xerror.WebhookError},
		{webhook.ErrCircuitOpen, xerror.CircuitBreaker},
	} {
		if got := xerror.From(fmt.Errorf("wrapped: %w", c.err)).GetErrorCode(); got != c.want {
			t.Errorf("%v is %v, want %v", c.err, got, c.want)
		}
	}
}
