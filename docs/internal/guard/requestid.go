package guard

import (
	"net/http"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

const requestIDHeader = "X-Request-UUID"

// setRequestID sets the request ID of the response, unless an outer handler has set it.
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
