package xreg

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// The words of the health answers beside those of xhook.State.
const (
	statusAlive       = "alive"
	statusUnavailable = "unavailable"
)

// nodeHealth is one node in the readiness answer. Error is the label of a code: the error's own text may name hosts.
type nodeHealth struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	State   string `json:"state,omitempty"`
	Latency int64  `json:"latency_us"`
	Error   string `json:"error,omitempty"`
}

// readiness is the readiness answer.
type readiness struct {
	Status string       `json:"status"`
	Nodes  []nodeHealth `json:"nodes"`
}

// health answers the health routes and logs what changes.
type health struct {
	life *xhook.Lifecycle
	app  context.Context // for the log lines of a change, which belong to no request
	was  sync.Map        // what each node was at the last look: "", not well, or degraded
}

// addHealth registers the health routes, outside the middleware.
func (r *Reg) addHealth(paths startup.Health) {
	h := &health{life: r.life, app: r.Init.Ctx}
	for path, handler := range map[string]gin.HandlerFunc{paths.LivePath: h.live, paths.ReadyPath: h.ready} {
		r.bare.GET(path, handler)
		r.bare.HEAD(path, handler)
	}
}

// live answers that the process serves.
func (*health) live(c *gin.Context) {
	answer(c, http.StatusOK, map[string]string{"status": statusAlive})
}

// ready answers 200 where the service is ready and all nodes are well. The nodes are not asked once the stop has begun:
// the answer is no, and they may be closed.
func (h *health) ready(c *gin.Context) {
	out := readiness{Nodes: []nodeHealth{}}
	well := true
	if h.life.State() < xhook.StateDraining {
		ctx := c.Request.Context()
		for _, n := range h.life.Check(ctx) {
			if ctx.Err() == nil { // else it is the caller who is not well
				h.note(n)
			}
			well = well && n.OK
			out.Nodes = append(out.Nodes, shown(n))
		}
	}
	state := h.life.State() // also where the stop began meanwhile
	status := http.StatusServiceUnavailable
	switch out.Status = state.String(); {
	case state != xhook.StateReady:
	case well:
		status = http.StatusOK
	default:
		out.Status = statusUnavailable
	}
	answer(c, status, out)
}

// shown is what the outcome of a check says to anyone who asks.
func shown(n xhook.Health) nodeHealth {
	out := nodeHealth{Name: n.Name, OK: n.OK, State: n.State, Latency: n.Latency.Microseconds()}
	if n.Err != nil {
		out.Error = xerror.From(n.Err).GetErrorCode().GetOutput()
	}
	return out
}

// note logs a node that has become unwell or degraded, or well again, once.
func (h *health) note(n xhook.Health) {
	is := n.State
	if !n.OK {
		is = statusUnavailable
	}
	switch was, known := h.was.Swap(n.Name, is); {
	case was == is, !known && is == "":
	case n.State != "":
		initLog.Warn(h.app, "node is degraded", slog.String("part", n.Name), slog.String("state", n.State))
	case n.OK:
		initLog.Notice(h.app, "node is well again", slog.String("part", n.Name))
	default:
		initLog.Warn(h.app, "node is not well", slog.String("part", n.Name), slog.Any("error", n.Err))
	}
}

// answer writes plain JSON.
func answer(c *gin.Context, status int, body any) {
	text, _ := json.Marshal(body) // strings and numbers only
	c.Header("Cache-Control", "no-store")
	c.Data(status, "application/json; charset=utf-8", append(text, '\n'))
}
