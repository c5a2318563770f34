package handler

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/examples/notifications/internal/logic"
)

// JobResponse is what an operator sees of a dead job. Its arguments stay where they are:
// they hold addresses and texts.
type JobResponse struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Attempts  int       `json:"attempts"`
	Error     string    `json:"error"`
	CreatedAt time.Time `json:"created_at"`
}

// DeadJobs answers GET /api/v1/jobs/dead with a page of the jobs that are not tried any
// more; ?after= is the id of the last one that is known.
func DeadJobs(c *gin.Context) {
	records, err := logic.DeadJobs(c.Request.Context(), c.Query("after"))
	if err != nil {
		_ = c.Error(err)
		return
	}
	jobs := make([]JobResponse, 0, len(records))
	for _, r := range records {
		jobs = append(jobs, JobResponse{
			ID: r.ID, Kind: r.Kind, Attempts: r.Attempt, Error: r.Error,
			CreatedAt: r.CreatedAt,
		})
	}
	xresult.SuccessHasData(c, "dead jobs", jobs)
}

// Replay answers POST /api/v1/jobs/{id}/replay.
func Replay(c *gin.Context) {
	if err := logic.Replay(c.Request.Context(), c.Param("id")); err != nil {
		_ = c.Error(err)
		return
	}
	xresult.Success(c, "the job runs again")
}
