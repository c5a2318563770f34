package webhook_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/plinthgo/plinth/notifyx/webhook"
)

// nameServer starts a DNS server. It responds to the n-th query for an IPv4 address, from
// 0, with the result of addresses, and to IPv6 queries with no address.
func nameServer(t *testing.T, addresses func(n int) [][4]byte) *net.Resolver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		queries := 0
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var question dnsmessage.Message
			if question.Unpack(buf[:n]) != nil {
				continue
			}
			reply := dnsmessage.Message{
				Header: dnsmessage.Header{
					ID: question.ID, Response: true, Authoritative: true, RecursionAvailable: true,
				},
				Questions: question.Questions,
			}
			if q := question.Questions[0]; q.Type == dnsmessage.TypeA {
				for _, a := range addresses(queries) {
					reply.Answers = append(reply.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{
							Name: q.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET,
						},
						Body: &dnsmessage.AResource{A: a},
					})
				}
				queries++
			}
			if packed, err := reply.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
		},
	}
}

func TestClient_Send_DNS(t *testing.T) {
	t.Run("blocks a name that changes to a private address", func(t *testing.T) {
		var reached atomic.Int32
		url := listen(t, func(_ context.Context, _ net.Conn) { reached.Add(1) })
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
		resolver := nameServer(t, func(n int) [][4]byte {
			if n == 0 {
				return [][4]byte{{8, 8, 8, 8}}
			}
			return [][4]byte{{127, 0, 0, 1}}
		})
		c, err := webhook.New(webhook.WithHTTP(), webhook.WithResolver(resolver))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		hook := "http://rebind.example.com:" + port + "/"
		if err := c.CheckURL(hook); err != nil {
			t.Fatal(err)
		}
		// A client that resolves the name before it connects sees the public address, and
		// then connects to another one.
		first, err := resolver.LookupHost(t.Context(), "rebind.example.com")
		if err != nil || first[0] != "8.8.8.8" {
			t.Fatalf("first lookup = %v, %v", first, err)
		}
		if _, err = c.Send(t.Context(), endpoint(hook), webhook.Event{Type: "a"}); !errors.Is(err,
			webhook.ErrBlockedAddress) {
			t.Errorf("error %v, want ErrBlockedAddress", err)
		}
		if n := reached.Load(); n != 0 {
			t.Errorf("%d connections were made", n)
		}
	})

	t.Run("checks every address of a name", func(t *testing.T) {
		var reached atomic.Int32
		url := listen(t, func(_ context.Context, _ net.Conn) { reached.Add(1) })
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
		c, err := webhook.New(webhook.WithHTTP(),
			webhook.WithResolver(nameServer(t, func(int) [][4]byte {
				return [][4]byte{{10, 0, 0, 1}, {127, 0, 0, 1}, {169, 254, 169, 254}}
			})))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.Send(t.Context(), endpoint("http://many.example.com:"+port+"/"),
			webhook.Event{Type: "a"})
		if !errors.Is(err, webhook.ErrBlockedAddress) {
			t.Errorf("error %v, want ErrBlockedAddress", err)
		}
		if strings.Count(err.Error(), "webhook") != 1 {
			t.Errorf("the error %q repeats its prefix", err)
		}
		if n := reached.Load(); n != 0 {
			t.Errorf("%d connections were made", n)
		}
	})

	t.Run("fails with ErrConnection for an unknown name", func(t *testing.T) {
		c, err := webhook.New(
			webhook.WithResolver(nameServer(t, func(int) [][4]byte { return nil })))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.Send(t.Context(), endpoint("https://unknown.example.com/hook-token"),
			webhook.Event{Type: "a"})
		if !errors.Is(err, webhook.ErrConnection) || strings.Contains(err.Error(), "token") {
			t.Errorf("error %v, want ErrConnection without the URL", err)
		}
		var dns *net.DNSError
		if !errors.As(err, &dns) {
			t.Errorf("%v: no *net.DNSError in the chain", err)
		}
	})
}
