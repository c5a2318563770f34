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

// checkMail reads what a service that sends mail will read, and looks whether there is a server. It says nothing of a service
// that sends none.
func (p *patient) checkMail(ctx context.Context) []Finding {
	if !p.Links(service.Project+"notifyx/email") || p.wrong("EMAIL_PORT", "EMAIL_TLS") != "" {
		return nil
	}
	config, err := email.ConfigFromEnv()
	if err != nil {
		var found []Finding
		for _, line := range split(errors.Unwrap(err)) {
			found = append(found, problem(line, "plinth env --group mail lists what there is to set"))
		}
		return found
	}
	address := net.JoinHostPort(config.Host, strconv.Itoa(config.Port))
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return []Finding{warning(fmt.Sprintf("the mail server cannot be reached: %v", err),
			fmt.Sprintf("start it, or correct %s and %s: the service starts without it, and no mail leaves", "EMAIL_HOST", "EMAIL_PORT"))}
	}
	_ = conn.Close()
	return []Finding{ok("the mail server %s takes connections", address)}
}
