//go:build !linux

package runner

import (
	"net"
	"time"
)

func setUserTimeout(*net.TCPConn, time.Duration) {}
