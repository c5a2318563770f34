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

// checkMail checks the mail configuration and connects to the server. It returns no
// finding if the service sends no mail.
func (p *target) checkMail(ctx context.Context) []Finding {
	if !p.Links(service.Project+"notifyx/email") || p.invalid("EMAIL_PORT", "EMAIL_TLS") != "" {
		return nil
	}
	config, err := email.ConfigFromEnv()
	if err != nil {
		return problems(errors.Unwrap(err), "run plinth env --group mail for the variables")
	}
	address := net.JoinHostPort(config.Host, strconv.Itoa(config.Port))
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return []Finding{warning(fmt.Sprintf("cannot connect to the mail server: %v", err),
			"start it, or correct EMAIL_HOST and EMAIL_PORT; the service starts without it, but cannot send mail")}
	}
	_ = conn.Close()
	return []Finding{ok("connected to the mail server %s", address)}
}
