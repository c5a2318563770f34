package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// checkPorts listens briefly on the ports of the service.
func (p *target) checkPorts(ctx context.Context) []Finding {
	found := []Finding{p.checkPort(ctx, xenv.Port)}
	switch {
	case len(p.Below(service.Project+"grpcx/")) == 0:
		return append(found, skipped("GRPC_PORT: the service does not import gRPC"))
	case number(xenv.Port) != 0 && number(xenv.Port) == number("GRPC_PORT"):
		return append(found, problem(
			fmt.Sprintf("%s and GRPC_PORT are both %d", xenv.Port, number(xenv.Port)),
			"set one of them to another port",
		))
	default:
		return append(found, p.checkPort(ctx, "GRPC_PORT"))
	}
}

func (p *target) checkPort(ctx context.Context, key xenv.EnvKey) Finding {
	if p.invalid(key) != "" {
		return skipped("%s is invalid", key)
	}
	host, port := text(xenv.Host), number(key)
	if port == 0 {
		return ok("%s=0 selects a free port", key)
	}
	address := net.JoinHostPort(host, strconv.Itoa(port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		_ = listener.Close()
		return ok("%s is free (%s)", address, key)
	}
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return problem(fmt.Sprintf("%s: unknown host %q", xenv.Host, host),
			fmt.Sprintf("set %s to an address of this machine, or to 0.0.0.0", xenv.Host))
	case errors.Is(err, syscall.EADDRINUSE):
		return problem(fmt.Sprintf("%s is in use (%s)", address, key),
			fmt.Sprintf("stop the process that listens there, which may be the service, or set %s to another port", key))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return problem(fmt.Sprintf("%s: %s is not an address of this machine", xenv.Host, host),
			fmt.Sprintf("set %s to an address of this machine, or to 0.0.0.0", xenv.Host))
	case errors.Is(err, syscall.EACCES):
		return problem(fmt.Sprintf("permission denied to listen on %s (%s)", address, key),
			fmt.Sprintf("set %s to 1024 or more", key))
	default:
		return problem(fmt.Sprintf("cannot listen on %s (%s): %v", address, key, err),
			fmt.Sprintf("correct %s and %s", xenv.Host, key))
	}
}
