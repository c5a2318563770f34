package driver

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Address returns the host, localhost by default and without the brackets of an IPv6
// address, and the port, by default the driver's usual one. The error names DATABASE_PORT
// where that can be none.
func (c Config) Address(defaultPort int) (host, port string, err error) {
	host = cmp.Or(c.Host, "localhost")
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	if c.Port < 0 || c.Port > math.MaxUint16 {
		return "", "", xenv.Problem(xenv.DatabasePort, strconv.Itoa(c.Port), "is no port", "1 to 65535")
	}
	return host, strconv.Itoa(cmp.Or(c.Port, defaultPort)), nil
}
