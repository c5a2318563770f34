package main

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// Note is a note of a user.
type Note struct {
	xmodels.BaseEntity        // id, created_at, updated_at
	Text               string `binding:"required,max=1000" json:"text"`
}

// add and find are independent of HTTP and gRPC.
func add(ctx context.Context, note *Note) error {
	return xdb.MustGetDB(ctx).Create(note).Error
}

func find(ctx context.Context, id xsnowflake.SnowflakeID) (*Note, error) {
	var note Note
	err := xdb.MustGetDB(ctx).Where("id = ?", id).Take(&note).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, xerror.New(xerror.ResourceNotFound, "note not found")
	}
	if err != nil {
		return nil, err
	}
	return &note, nil
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.POST("/notes", func(c *gin.Context) {
		note := xbind.Bind(c, &Note{}).Data()
		if note == nil {
			return // the error has been reported
		}
		if err := add(c.Request.Context(), note); err != nil {
			_ = c.Error(err)
			return
		}
		xresult.SuccessHasData(c, "noted", note)
	})
	engine.GET("/notes/:id", func(c *gin.Context) {
		id, err := xsnowflake.ParseSnowflakeID(c.Param("id"))
		if err != nil {
			_ = c.Error(xerror.Wrap(xerror.ParameterError, "invalid note id", err))
			return
		}
		note, err := find(c.Request.Context(), id)
		if err != nil {
			_ = c.Error(err)
			return
		}
		xresult.SuccessHasData(c, "found", note)
	})
}
