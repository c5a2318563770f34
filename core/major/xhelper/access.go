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
func (r *run) access(aborted bool) {
	line := xlog.AccessLine{
		Method: r.http.Method, Path: r.path, Route: r.c.FullPath(),
		Status: r.writer.ResponseWriter.Status(), Bytes: int64(max(0, r.writer.Size())),
		Start: r.request.Start(), ClientIP: r.address(), Reported: r.request.Reported(),
	}
	line.ErrorCode, line.ErrorMessage = r.request.Failure()
	switch {
	case r.writer.hijacked:
		line.Status = http.StatusSwitchingProtocols
	case aborted:
		line.ErrorMessage = messageAborted
		if !r.writer.committed() {
			line.Status = http.StatusInternalServerError
		}
	case line.Status < http.StatusBadRequest && r.quiet != nil && r.quiet.match(r.path) && !r.log.Enabled(&r.request, slog.LevelDebug):
		return
	}
	r.log.Access(&r.request, &line)
}

// address returns the client's address, without the port.
func (r *run) address() string {
	if r.trustProxies {
		return r.c.ClientIP()
	}
	address := r.c.Request.RemoteAddr
	if colon := strings.LastIndexByte(address, ':'); colon >= 0 {
		address = address[:colon]
	}
	if strings.HasPrefix(address, "[") { // IPv6
		address = strings.Trim(address, "[]")
	}
	return address
}
