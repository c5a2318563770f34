package xhelper

import (
	"cmp"
	"log/slog"
	"net"
	"net/http"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// messageAborted is the error message in the access log of an incomplete response.
const messageAborted = "connection aborted"

// logAccess writes the access log line of the request. The line contains no query, whose
// values may be secrets, and no part of a body.
func (ex *exchange) logAccess(aborted bool) {
	line := xlog.AccessLine{
		Method: ex.http.Method, Path: ex.path, Route: ex.c.FullPath(),
		Status: ex.writer.ResponseWriter.Status(), Bytes: int64(max(0, ex.writer.Size())),
		Start: ex.request.Start(), ClientIP: ex.address(), Reported: ex.request.Reported(),
	}
	line.ErrorCode, line.ErrorMessage = ex.request.Failure()
	switch {
	case ex.writer.hijacked:
		line.Status = http.StatusSwitchingProtocols
	case aborted:
		line.ErrorMessage = messageAborted
		if !ex.writer.committed() {
			line.Status = http.StatusInternalServerError
		}
	case line.Status < http.StatusBadRequest && ex.server.quiet.match(ex.path) &&
		!ex.server.Log.Enabled(&ex.request, slog.LevelDebug):
		return
	}
	ex.server.Log.Access(&ex.request, &line)
}

func (ex *exchange) address() string {
	if ex.server.TrustProxies {
		return ex.c.ClientIP()
	}
	remote := ex.c.Request.RemoteAddr
	// The host is empty for a Unix socket, or if a middleware removed the port.
	host, _, _ := net.SplitHostPort(remote)
	return cmp.Or(host, remote)
}
