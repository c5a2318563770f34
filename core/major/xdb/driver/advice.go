package driver

import (
	"fmt"
	"net"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Advice returns a warning if the connection leaves the machine in plain text and no variable or option has chosen that.
func (c Config) Advice() []string {
	if c.TLS != "" || local(c.Host) {
		return nil
	}
	return []string{fmt.Sprintf("the connection to %s is not encrypted: set %s to %s or %s, or to %s where that is meant",
		c.Host, xenv.DatabaseTLS, TLSVerifyFull, TLSRequire, TLSDisable)}
}

// local reports whether a host is this machine: its name, a loopback address, the folder of a Unix socket.
func local(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
