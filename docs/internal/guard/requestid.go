package guard

import (
	"net/http"

	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

const requestIDHeader = "X-Request-UUID"

// setRequestID gives the answer a request id, unless an outer handler has done so.
func setRequestID(out, in http.Header) {
	if out.Get(requestIDHeader) != "" {
		return
	}
	id := in.Get(requestIDHeader)
	if !xCtx.ValidID(id) {
		var fresh xCtx.Request
		fresh.GenerateID()
		id = fresh.ID()
	}
	out.Set(requestIDHeader, id)
}
