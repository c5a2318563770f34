package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/plinthgo/plinth/notifyx/email"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// checkMail reads what a service that sends mail will read, and looks whether there is a
// server. It says nothing of a service that sends none.
func (p *patient) checkMail(ctx context.Context) []Finding {
	if !p.Links(service.Project+"notifyx/email") || p.wrong("EMAIL_PORT", "EMAIL_TLS") != "" {
		return nil
	}
	config, err := email.ConfigFromEnv()
	if err != nil {
		return problems(errors.Unwrap(err), "plinth env --group mail lists what there is to set")
	}
	address := net.JoinHostPort(config.Host, strconv.Itoa(config.Port))
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return []Finding{warning(fmt.Sprintf("the mail server cannot be reached: %v", err),
			"start it, or correct EMAIL_HOST and EMAIL_PORT: the service starts without it, and no mail leaves")}
	}
	_ = conn.Close()
	return []Finding{ok("the mail server %s takes connections", address)}
}
