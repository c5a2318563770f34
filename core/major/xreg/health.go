package xreg

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// statusUnavailable is the status of a failed node, and of a ready service that has a
// failed node.
const statusUnavailable = "unavailable"

// nodeHealth is a node in the readiness response. Error is the label of an error code,
// because the error text may contain host names.
type nodeHealth struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	State   string `json:"state,omitempty"`
	Latency int64  `json:"latency_us"`
	Error   string `json:"error,omitempty"`
}

// readiness is the readiness response.
type readiness struct {
	Status string       `json:"status"`
	Nodes  []nodeHealth `json:"nodes"`
}

// addHealth registers the health routes, without the middleware.
func (r *Reg) addHealth(p *startup.Plan) {
	for path, handler := range map[string]gin.HandlerFunc{
		p.LivePath:  serveLive,
		p.ReadyPath: r.serveReady,
	} {
		r.bare.GET(path, handler)
		r.bare.HEAD(path, handler)
	}
}

func serveLive(c *gin.Context) {
	respond(c, http.StatusOK, map[string]string{"status": "alive"})
}

// serveReady responds with 200 if the service is ready and all nodes are healthy. It does
// not check nodes during the shutdown, because they may be closed.
func (r *Reg) serveReady(c *gin.Context) {
	out := readiness{Nodes: []nodeHealth{}}
	healthy := true
	if r.lifecycle.State() < xhook.StateDraining {
		ctx := c.Request.Context()
		for _, n := range r.lifecycle.Check(ctx) {
			if ctx.Err() == nil { // otherwise the probe was canceled
				r.logHealth(n)
			}
			healthy = healthy && n.OK
			out.Nodes = append(out.Nodes, publicHealth(n))
		}
	}
	state := r.lifecycle.State() // the shutdown may have started in the meantime
	status := http.StatusServiceUnavailable
	switch out.Status = state.String(); {
	case state != xhook.StateReady:
	case healthy:
		status = http.StatusOK
	default:
		out.Status = statusUnavailable
	}
	respond(c, status, out)
}

// publicHealth returns the part of a result that clients may see.
func publicHealth(n xhook.Health) nodeHealth {
	out := nodeHealth{Name: n.Name, OK: n.OK, State: n.State, Latency: n.Latency.Microseconds()}
	if n.Err != nil {
		out.Error = xerror.From(n.Err).GetErrorCode().GetOutput()
	}
	return out
}

// logHealth logs a node once when its state changes. The log line has the application's
// context, not the request's.
func (r *Reg) logHealth(n xhook.Health) {
	now := n.State
	if !n.OK {
		now = statusUnavailable
	}
	switch before, known := r.health.Swap(n.Name, now); {
	case before == now, !known && now == "":
	case n.State != "":
		initLog.Warn(r.Init.Ctx, "node degraded",
			slog.String("part", n.Name), slog.String("state", n.State))
	case n.OK:
		initLog.Notice(r.Init.Ctx, "node healthy again", slog.String("part", n.Name))
	default:
		initLog.Warn(r.Init.Ctx, "node unhealthy",
			slog.String("part", n.Name), slog.Any("error", n.Err))
	}
}

// respond writes body as JSON that must not be cached.
func respond(c *gin.Context, status int, body any) {
	c.Header("Cache-Control", "no-store")
	c.PureJSON(status, body)
}
