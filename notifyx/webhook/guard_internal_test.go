package webhook

import (
	"errors"
	"net/netip"
	"testing"
)

func TestGuard_Zone(t *testing.T) {
	g := guard{allowed: prefixes("10.1.0.0/16", "fd00:1::/32")}
	for _, text := range []string{
		"2606:4700::1111", "fd00:1::5", "::ffff:8.8.8.8", "::ffff:10.1.2.3", "64:ff9b::8.8.8.8",
	} {
		addr := netip.MustParseAddr(text)
		if err := g.check(addr); err != nil {
			t.Errorf("%s: %v, want no error", addr, err)
		}
		addr = addr.WithZone("eth0")
		if err := g.check(addr); !errors.Is(err, ErrBlockedAddress) {
			t.Errorf("%s: %v, want ErrBlockedAddress", addr, err)
		}
	}
}
