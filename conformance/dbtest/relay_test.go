package dbtest_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func dial(c driver.Config) error {
	address := net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp",
		address)
	if err == nil {
		err = conn.Close()
	}
	return err
}

func TestCutOff(t *testing.T) {
	server := driver.Config{Host: "127.0.0.1", Port: 1, User: "u"}
	outage := dbtest.CutOff(t, server)
	if outage.Config.Port == server.Port || outage.Config.User != server.User {
		t.Errorf("parts = %v, want the parts of the server with another port", outage.Config)
	}
	if err := dial(outage.Config); err != nil {
		t.Errorf("before Stop: %v", err)
	}
	if err := outage.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := dial(outage.Config); err == nil {
		t.Error("connected after Stop")
	}
	if err := outage.Start(); err != nil {
		t.Fatal(err)
	}
	if err := dial(outage.Config); err != nil {
		t.Errorf("after Start: %v", err)
	}
}
