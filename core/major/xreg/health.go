package xreg

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// statusUnavailable is the state of an unwell node, and of a ready service that has one.
const statusUnavailable = "unavailable"

// nodeHealth is one node in the readiness answer. Error is the label of a code: the
// error's own text may name hosts.
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

// addHealth registers the health routes, outside the middleware.
func (r *Reg) addHealth(p *startup.Plan) {
	for path, handler := range map[string]gin.HandlerFunc{
		p.LivePath:  answerLive,
		p.ReadyPath: r.answerReady,
	} {
		r.bare.GET(path, handler)
		r.bare.HEAD(path, handler)
	}
}

// answerLive answers that the process serves.
func answerLive(c *gin.Context) {
	answer(c, http.StatusOK, map[string]string{"status": "alive"})
}

// answerReady answers 200 if the service is ready and all nodes are well. The nodes are
// not asked once the stop has begun: the answer is no, and they may be closed.
func (r *Reg) answerReady(c *gin.Context) {
	out := readiness{Nodes: []nodeHealth{}}
	well := true
	if r.life.State() < xhook.StateDraining {
		ctx := c.Request.Context()
		for _, n := range r.life.Check(ctx) {
			if ctx.Err() == nil { // else it is the caller who is not well
				r.noteHealth(n)
			}
			well = well && n.OK
			out.Nodes = append(out.Nodes, shown(n))
		}
	}
	state := r.life.State() // also where the stop began meanwhile
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

// noteHealth logs a node that has become unwell or degraded, or well again, once. The
// line belongs to the application, and to no request.
func (r *Reg) noteHealth(n xhook.Health) {
	is := n.State
	if !n.OK {
		is = statusUnavailable
	}
	switch was, known := r.health.Swap(n.Name, is); {
	case was == is, !known && is == "":
	case n.State != "":
		initLog.Warn(r.Init.Ctx, "node is degraded",
			slog.String("part", n.Name), slog.String("state", n.State))
	case n.OK:
		initLog.Notice(r.Init.Ctx, "node is well again", slog.String("part", n.Name))
	default:
		initLog.Warn(r.Init.Ctx, "node is not well",
			slog.String("part", n.Name), slog.Any("error", n.Err))
	}
}

// answer writes plain JSON.
func answer(c *gin.Context, status int, body any) {
	c.Header("Cache-Control", "no-store")
	c.PureJSON(status, body)
}
