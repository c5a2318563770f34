package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// hostName is a name that a listener can look up.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// readAddr reads what --addr says, as net.Listen does: the host may be empty, and the
// port the name of a service. A port has to be given: without one the system chooses it,
// and nobody knows the address.
func readAddr(ctx context.Context, addr string) (host string, port int, err error) {
	host, service, err := net.SplitHostPort(addr)
	if err == nil && service != "" && isHost(host) {
		if port, err = net.DefaultResolver.LookupPort(ctx, "tcp", service); err == nil {
			return host, port, nil
		}
	}
	return "", 0, fmt.Errorf("%w: --addr %q: want HOST:PORT, such as 127.0.0.1:8080, or :8080 for every address of this machine", errUsage, addr)
}

func isHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return host == "" || err == nil || hostName.MatchString(host)
}

// reachedAt is the address of a site that listens there, or empty where it listens on
// more than one, or nobody can write it.
func reachedAt(host string, port int) string {
	ip, err := netip.ParseAddr(host)
	isMany := host == "" || err == nil && ip.Unmap().IsUnspecified()
	if isMany || port == 0 || ip.Zone() != "" || strings.Contains(host, "_") {
		return ""
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// blame names the flag where an address cannot be listened on, which a library names
// otherwise.
func blame(addr string, err error) error {
	var cause *net.OpError
	if errors.As(err, &cause) && cause.Op == "listen" {
		return fmt.Errorf("--addr %q: %w", addr, cause)
	}
	return err
}
