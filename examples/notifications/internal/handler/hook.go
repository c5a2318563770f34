package handler

import (
	"log/slog"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
)

var log = xlog.WithName(xlog.NamedCONT, "hook")

// HookRequest contains the required fields of a webhook body.
type HookRequest struct {
	Type string `binding:"required" json:"type"`
	Data struct {
		ID xsnowflake.SnowflakeID `binding:"required" json:"id"`
	} `json:"data"`
}

// Hook handles POST /hooks/receiver after the middleware verified the signature.
func Hook(c *gin.Context) {
	request := xbind.Bind(c, &HookRequest{}, xbind.AllowUnknownFields()).Data()
	if request == nil {
		return
	}
	delivery, _ := receiver.DeliveryFrom(c)
	log.Info(c.Request.Context(), "webhook arrived",
		slog.String("id", delivery.ID), slog.String("type", request.Type),
		slog.Any("user", request.Data.ID))
	xresult.Success(c, "ok")
}
