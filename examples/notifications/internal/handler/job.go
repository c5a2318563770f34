package handler

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/examples/notifications/internal/logic"
)

// JobResponse is a dead-lettered job without its arguments, which contain addresses and
// messages.
type JobResponse struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Attempts  int       `json:"attempts"`
	Error     string    `json:"error"`
	CreatedAt time.Time `json:"created_at"`
}

// DeadJobs handles GET /api/v1/jobs/dead and returns a page of dead-lettered jobs;
// ?after= is the ID of the last job of the previous page.
func DeadJobs(c *gin.Context) {
	records, err := logic.DeadJobs(c.Request.Context(), c.Query("after"))
	if err != nil {
		_ = c.Error(err)
		return
	}
	jobs := make([]JobResponse, 0, len(records))
	for _, r := range records {
		jobs = append(jobs, JobResponse{
			ID: r.ID, Kind: r.Kind, Attempts: r.Attempt, Error: r.Error, CreatedAt: r.CreatedAt,
		})
	}
	xresult.SuccessHasData(c, "dead jobs", jobs)
}

// Replay handles POST /api/v1/jobs/{id}/replay.
func Replay(c *gin.Context) {
	if err := logic.Replay(c.Request.Context(), c.Param("id")); err != nil {
		_ = c.Error(err)
		return
	}
	xresult.Success(c, "job queued for retry")
}
