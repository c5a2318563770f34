package driver

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Advice returns a warning where the connection leaves the machine in plain text and nobody has chosen that, and one for each
// part that is set although only other drivers read it. read are the variables of that kind which this driver does read.
func (c Config) Advice(read ...xenv.EnvKey) []string {
	var lines []string
	if c.TLS == "" && !local(c.Host) {
		lines = append(lines, fmt.Sprintf("the connection to %s is not encrypted: set %s to %s or %s, or to %s where that is meant",
			c.Host, xenv.DatabaseTLS, TLSVerifyFull, TLSRequire, TLSDisable))
	}
	for _, part := range []struct {
		key   xenv.EnvKey
		value string
	}{
		{xenv.DatabaseTimezone, c.Timezone},
		{xenv.DatabaseCharset, c.Charset},
		{xenv.DatabaseServiceName, c.ServiceName},
		{xenv.DatabaseLibDir, c.LibDir},
	} {
		if part.value != "" && !slices.Contains(read, part.key) {
			lines = append(lines, string(part.key)+" is set, but means nothing to this driver")
		}
	}
	return lines
}

// local reports whether a host is this machine: its name, a loopback address, the folder of a Unix socket.
func local(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
