package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plinthgo/plinth/notifyx/webhook"
)

func TestClient_CheckURL(t *testing.T) {
	t.Run("blocks addresses that are not public", func(t *testing.T) {
		c, err := webhook.New()
		if err != nil {
			t.Fatal(err)
		}
		for address := range strings.FieldsSeq(`
		0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 100.100.100.200
		127.0.0.1 127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1
		172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1
		192.168.0.1 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
		239.255.255.255 240.0.0.1 255.255.255.255 [::] [::1] [::127.0.0.1] [::8.8.8.8]
		[::ffff:127.0.0.1] [::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [::ffff:0:127.0.0.1]
		[64:ff9b::127.0.0.1] [64:ff9b::10.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::1] [100::1]
		[2001::1] [2001:2::1] [2001:10::1] [2001:20::1] [2001:db8::1] [2002:7f00:1::]
		[2002:a00:1::] [2002:808:808::] [2620:4f:8000::1] [3fff::1] [5f00::1] [fc00::1]
		[fd00:ec2::254] [fdff::1] [fe80::1] [fe80::1%25eth0] [2606:4700::1111%25eth0] [fec0::1]
		[ff02::1] [4000::1] [e000::1] localhost LOCALHOST localhost. foo.localhost 127.1 127.0.1
		0x7f.1 0x7f000001 0X7F.0.0.1 2130706433 017700000001 0177.0.0.1 127.0.0.1. 127.0.0.0x1
		1.1 8.8.8.8. 256.256.256.256 0x`) {
			if err := c.CheckURL("https://" + address + "/hook"); !errors.Is(err,
				webhook.ErrBlockedAddress) {
				t.Errorf("%s: %v, want ErrBlockedAddress", address, err)
			}
		}
	})

	t.Run("accepts public addresses", func(t *testing.T) {
		c, err := webhook.New()
		if err != nil {
			t.Fatal(err)
		}
		for host := range strings.FieldsSeq(`
		8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255
		128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0
		192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 [2606:4700::1111]
		[2001:200::1] [2001:4860:4860::8888] [2a00:1450::1] [::ffff:8.8.8.8] [64:ff9b::8.8.8.8]
		example.com example.com. EXAMPLE.com xn--bcher-kva.example a-b_c.example
		127.0.0.1.example 0x7f.example`) {
			if err := c.CheckURL("https://" + host + "/hook"); err != nil {
				t.Errorf("%s: %v, want no error", host, err)
			}
		}
	})

	t.Run("rejects invalid URLs", func(t *testing.T) {
		for _, u := range []struct{ name, url string }{
			{"http without the option", "http://example.com/"},
			{"another scheme", "file:///etc/passwd"},
			{"gopher", "gopher://example.com:25/_EHLO"},
			{"no scheme", "example.com/hook"},
			{"scheme-relative", "//example.com/"},
			{"opaque", "https:example.com"},
			{"empty", ""},
			{"no host", "https:///hook"},
			{"user", "https://user-token@example.com/"},
			{"user and password", "https://user:pass-token@example.com/"},
			{"user that looks like a host", "https://example.com@127.0.0.1/"},
			{"fragment", "https://example.com/#x"},
			{"empty fragment", "https://example.com/#"},
			{"port 0", "https://example.com:0/"},
			{"large port", "https://example.com:65536/"},
			{"empty port", "https://example.com:/"},
			{"control character", "https://example.com/\r\nX: y"},
			{"space in the host", "https://exa mple.com/"},
			{"space in the path", "https://example.com/a b"},
			{"space in the query", "https://example.com/?a b"},
			{"space at the end", "https://example.com/?a "},
			{"tab in the query", "https://example.com/?a\tb"},
			{"DEL in the query", "https://example.com/?a\x7fb"},
			{"control character beyond ASCII", "https://example.com/?a\u0085b"},
			{"line separator", "https://example.com/?a\u2028b"},
			{"no-break space", "https://example.com/?a\u00a0b"},
			{"other script", "https://bücher.example/"},
			{"full-width digits", "https://１２７.０.０.１/"},
			{"circled letters", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/"},
			{"ideographic full stop", "https://127。0。0。1/"},
			{"escaped host", "https://%6c%6f%63alhost/"},
			{"zero byte", "https://example.com\x00.evil/"},
			{"two full stops", "https://example..com/"},
			{"only a full stop", "https://./"},
			{"long label", "https://" + strings.Repeat("a", 64) + ".com/"},
			{"long URL", "https://example.com/" + strings.Repeat("a", 2048)},
			{"backslash", `https://example.com\@127.0.0.1/`},
		} {
			c, err := webhook.New()
			if err != nil {
				t.Fatal(err)
			}
			err = c.CheckURL(u.url)
			if !errors.Is(err, webhook.ErrURL) {
				t.Errorf("%s: %v, want ErrURL", u.name, err)
			}
			if err != nil && strings.Contains(err.Error(), "token") {
				t.Errorf("%s: the error %q contains the URL", u.name, err)
			}
			e := endpoint(u.url)
			if _, err := c.Send(t.Context(), e, webhook.Event{Type: "a"}); !errors.Is(err,
				webhook.ErrURL) {
				t.Errorf("%s: Send: %v, want ErrURL", u.name, err)
			}
		}
	})
}

func TestWithPorts(t *testing.T) {
	c, err := webhook.New(webhook.WithHTTP(), webhook.WithPorts(443, 8443))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []struct {
		url  string
		want error
	}{
		{"https://example.com/", nil},
		{"https://example.com:443/", nil},
		{"https://example.com:8443/", nil},
		{"http://example.com:8443/", nil},
		{"http://example.com/", webhook.ErrURL},
		{"https://example.com:22/", webhook.ErrURL},
	} {
		if err := c.CheckURL(u.url); !errors.Is(err, u.want) {
			t.Errorf("%s: %v, want %v", u.url, err, u.want)
		}
	}
}

func TestWithAllowedNetworks(t *testing.T) {
	c, err := webhook.New(webhook.WithAllowedNetworks(netip.MustParsePrefix("10.1.0.0/16"),
		netip.MustParsePrefix("fd00:1::/32")))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []struct {
		host string
		want error
	}{
		{"10.1.2.3", nil},
		{"[::ffff:10.1.2.3]", nil},
		{"[64:ff9b::10.1.2.3]", nil},
		{"[fd00:1::5]", nil},
		{"[fd00:1::5%25eth0]", webhook.ErrBlockedAddress},
		{"10.2.0.1", webhook.ErrBlockedAddress},
		{"[fd00:2::5]", webhook.ErrBlockedAddress},
		{"127.0.0.1", webhook.ErrBlockedAddress},
		{"localhost", webhook.ErrBlockedAddress},
	} {
		if err := c.CheckURL("https://" + u.host + "/"); !errors.Is(err, u.want) {
			t.Errorf("%s: %v, want %v", u.host, err, u.want)
		}
	}
}

func TestClient_Send_Loopback(t *testing.T) {
	var reached atomic.Int32
	url := listen(t, func(_ context.Context, _ net.Conn) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	c, err := webhook.New(webhook.WithHTTP(), webhook.WithoutBreaker())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, host := range []string{
		"127.0.0.1", "localhost", "localhost.", "0x7f.1", "2130706433",
		"[::ffff:127.0.0.1]", "0.0.0.0", "[::1]", "[::]",
	} {
		_, err := c.Send(t.Context(), endpoint("http://"+host+":"+port+"/"),
			webhook.Event{Type: "a"})
		if !errors.Is(err, webhook.ErrBlockedAddress) {
			t.Errorf("%s: %v, want ErrBlockedAddress", host, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestClient_Send_Proxy(t *testing.T) {
	var proxied atomic.Int32
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { proxied.Add(1) })
	for _, name := range []string{
		"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY",
	} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	c, err := webhook.New(webhook.WithHTTP())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Send(t.Context(), endpoint("http://10.0.0.1/"),
		webhook.Event{Type: "a"}); !errors.Is(err, webhook.ErrBlockedAddress) {
		t.Errorf("error %v, want ErrBlockedAddress", err)
	}
	if n := proxied.Load(); n != 0 {
		t.Errorf("the proxy got %d requests", n)
	}
}
