package webhook

import (
	"context"
	"net/netip"
	"syscall"
)

// blockedNetworks are the networks that are not the public internet: IANA's registries of
// special-purpose addresses (RFC 6890 and its updates), multicast, and the one public
// address behind which a cloud keeps its metadata.
var blockedNetworks = prefixes(
	"0.0.0.0/8",         // this network; 0.0.0.0 is the host itself
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // carrier-grade NAT; some clouds keep their metadata here
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // Azure's host, reached from its virtual machines
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
	"240.0.0.0/4",       // reserved, with the broadcast address
	"2001::/23",         // protocol assignments: Teredo, benchmarks, ORCHID
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
	"ff00::/8",          // multicast
	"fc00::/7",          // private
	"fe80::/10",         // link-local
	"fec0::/10",         // site-local, out of use
	"::/96",             // unspecified, loopback, IPv4-compatible
	"64:ff9b:1::/48",    // NAT64 within a network
	"100::/64",          // discard
	"5f00::/16",         // segment routing
)

var (
	// unicast is all that IANA has given out of IPv6; what is outside is not public.
	unicast = netip.MustParsePrefix("2000::/3")
	// nat64 holds IPv4 addresses, which count (RFC 6052): where a network has IPv6 only,
	// every receiver is in it.
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

// guard decides which addresses a webhook may be sent to.
type guard struct{ allowed []netip.Prefix }

// addressError is an ErrBlockedAddress.
type addressError struct{ what string }

// Error implements error.
func (e *addressError) Error() string { return ErrBlockedAddress.Error() + ": " + e.what }

// Unwrap returns ErrBlockedAddress.
func (e *addressError) Unwrap() error { return ErrBlockedAddress }

// check returns an error for an address that is not public and not allowed.
func (g guard) check(addr netip.Addr) error {
	if g.blocks(addr) {
		return &addressError{what: addr.WithZone("").String()} // a zone is any text
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

// control is called by the dialer for each address right before the connection is made,
// when no name can change any more.
func (g guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return &addressError{what: "network " + network}
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &addressError{what: "the dialer gave none"}
	}
	return g.check(to.Addr())
}
