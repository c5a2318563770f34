package handler

import (
	"log/slog"

	"github.com/gin-gonic/gin"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xBind "github.com/plinthgo/plinth/core/major/xbind"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xWebhook "github.com/plinthgo/plinth/notifyx/webhook"
)

var log = xLog.WithName(xLog.NamedCONT, "hook")

// HookRequest is the body of a webhook, as far as it is of interest here.
type HookRequest struct {
	Type string `binding:"required" json:"type"`
	Data struct {
		ID xSnowflake.SnowflakeID `binding:"required" json:"id"`
	} `json:"data"`
}

// Hook answers POST /hooks/receiver, behind the middleware that has checked the signature.
func Hook(c *gin.Context) {
	request := xBind.Bind(c, &HookRequest{}, xBind.AllowUnknownFields()).Data()
	if request == nil {
		return
	}
	delivery, _ := xWebhook.DeliveryFrom(c)
	log.Info(c.Request.Context(), "webhook arrived",
		slog.String("id", delivery.ID), slog.String("type", request.Type), slog.Any("user", request.Data.ID))
	xResult.Success(c, "ok")
}
