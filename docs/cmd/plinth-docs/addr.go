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

// hostName matches host names that a listener can resolve.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// readAddr parses --addr like net.Listen: the host may be empty, and the port may be a
// service name. The port is required, because the address would be unknown without it.
func readAddr(ctx context.Context, addr string) (host string, port int, err error) {
	host, service, err := net.SplitHostPort(addr)
	if err == nil && service != "" && isHost(host) {
		if port, err = net.DefaultResolver.LookupPort(ctx, "tcp", service); err == nil {
			return host, port, nil
		}
	}
	return "", 0, fmt.Errorf("%w: --addr %q: want HOST:PORT, such as 127.0.0.1:8080, or :8080 for all local addresses", errUsage, addr)
}

func isHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return host == "" || err == nil || hostName.MatchString(host)
}

// reachedAt returns the URL of a site with this listener, or "" if it listens on several
// addresses or has no valid URL.
func reachedAt(host string, port int) string {
	ip, err := netip.ParseAddr(host)
	isMany := host == "" || err == nil && ip.Unmap().IsUnspecified()
	if isMany || port == 0 || ip.Zone() != "" || strings.Contains(host, "_") {
		return ""
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// withFlag adds the flag to errors of listening.
func withFlag(addr string, err error) error {
	var cause *net.OpError
	if errors.As(err, &cause) && cause.Op == "listen" {
		return fmt.Errorf("--addr %q: %w", addr, cause)
	}
	return err
}
