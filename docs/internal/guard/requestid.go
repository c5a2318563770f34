package guard

import (
	"net/http"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

const requestIDHeader = "X-Request-UUID"

// setRequestID gives the answer a request id, unless an outer handler has done so.
func setRequestID(out, in http.Header) {
	if out.Get(requestIDHeader) != "" {
		return
	}
	id := in.Get(requestIDHeader)
	if !xctx.ValidID(id) {
		var fresh xctx.Request
		fresh.GenerateID()
		id = fresh.ID()
	}
	out.Set(requestIDHeader, id)
}
