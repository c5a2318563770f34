package webhook

import (
	"context"
	"net/netip"
	"syscall"
)

// blockedNetworks lists the networks outside the public internet: the IANA
// special-purpose address registries (RFC 6890 and updates), multicast, and the public
// address of a cloud metadata service.
var blockedNetworks = prefixes(
	"0.0.0.0/8",         // this network; 0.0.0.0 is the host itself
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // carrier-grade NAT; metadata of some clouds
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // metadata of Azure, a public address
	"169.254.0.0/16",    // link-local, with the metadata of most clouds
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // AMT
	"192.88.99.0/24",    // 6to4 relays
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarks
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, including broadcast
	"2001::/23",         // protocol assignments: Teredo, benchmarks, ORCHID
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
	"ff00::/8",          // multicast
	"fc00::/7",          // private
	"fe80::/10",         // link-local
	"fec0::/10",         // site-local, deprecated
	"::/96",             // unspecified, loopback, IPv4-compatible
	"64:ff9b:1::/48",    // NAT64 within a network
	"100::/64",          // discard
	"5f00::/16",         // segment routing
)

var (
	// unicast is the IPv6 space that IANA has allocated; other addresses are not public.
	unicast = netip.MustParsePrefix("2000::/3")
	// nat64 embeds IPv4 addresses, which are checked instead (RFC 6052). In a network
	// with IPv6 only, all receivers have such addresses.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")

	loopback  = prefixes("127.0.0.0/8", "::1/128")
	localhost = netip.AddrFrom4([4]byte{127, 0, 0, 1})
)

func prefixes(all ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(all))
	for i, p := range all {
		list[i] = netip.MustParsePrefix(p)
	}
	return list
}

// guard decides which addresses the client may connect to.
type guard struct{ allowed []netip.Prefix }

type addressError struct{ detail string }

// Error implements error.
func (e *addressError) Error() string { return ErrBlockedAddress.Error() + ": " + e.detail }

// Unwrap returns ErrBlockedAddress.
func (e *addressError) Unwrap() error { return ErrBlockedAddress }

// check returns an error if addr is neither public nor allowed.
func (g guard) check(addr netip.Addr) error {
	if g.blocks(addr) {
		return &addressError{detail: addr.WithZone("").String()} // a zone is arbitrary text
	}
	return nil
}

func (g guard) blocks(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return true
	}
	addr = addr.Unmap()
	switch {
	case contains(g.allowed, addr):
		return false
	case nat64.Contains(addr):
		b := addr.As16()
		return g.blocks(netip.AddrFrom4([4]byte(b[12:])))
	case contains(blockedNetworks, addr):
		return true
	default:
		return addr.Is6() && !unicast.Contains(addr)
	}
}

func contains(networks []netip.Prefix, addr netip.Addr) bool {
	for _, p := range networks {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// control checks each resolved address. The dialer calls it right before it connects, so
// DNS changes cannot bypass the check.
func (g guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return &addressError{detail: "network " + network}
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &addressError{detail: "invalid address"}
	}
	return g.check(to.Addr())
}
