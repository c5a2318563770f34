package xhelper

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// messageAborted is what the access log says of a response that ended before it was complete.
const messageAborted = "the connection was aborted"

// access writes the line of the access log. It tells the path without the query, whose values may be
// secrets, and nothing of the bodies.
func (t *turn) access(aborted bool) {
	line := xlog.AccessLine{
		Method: t.http.Method, Path: t.path, Route: t.c.FullPath(),
		Status: t.writer.ResponseWriter.Status(), Bytes: int64(max(0, t.writer.Size())),
		Start: t.request.Start(), ClientIP: t.address(), Reported: t.request.Reported(),
	}
	line.ErrorCode, line.ErrorMessage = t.request.Failure()
	switch {
	case t.writer.hijacked:
		line.Status = http.StatusSwitchingProtocols
	case aborted:
		line.ErrorMessage = messageAborted
		if !t.writer.committed() {
			line.Status = http.StatusInternalServerError
		}
	case line.Status < http.StatusBadRequest && t.server.quiet.match(t.path) && !t.server.Log.Enabled(&t.request, slog.LevelDebug):
		return
	}
	t.server.Log.Access(&t.request, &line)
}

// address returns the client's address, without the port.
func (t *turn) address() string {
	if t.server.TrustProxies {
		return t.c.ClientIP()
	}
	address := t.c.Request.RemoteAddr
	if colon := strings.LastIndexByte(address, ':'); colon >= 0 {
		address = address[:colon]
	}
	if strings.HasPrefix(address, "[") { // IPv6
		address = strings.Trim(address, "[]")
	}
	return address
}
