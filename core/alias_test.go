package core_test

import (
	xBase "github.com/plinthgo/plinth/core/common/xbase"
	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xError "github.com/plinthgo/plinth/core/common/xerror"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xUtil "github.com/plinthgo/plinth/core/common/xutil"
	xVaild "github.com/plinthgo/plinth/core/common/xvalid"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xBind "github.com/plinthgo/plinth/core/major/xbind"
	xCache "github.com/plinthgo/plinth/core/major/xcache"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xHelper "github.com/plinthgo/plinth/core/major/xhelper"
	xHook "github.com/plinthgo/plinth/core/major/xhook"
	xHttp "github.com/plinthgo/plinth/core/major/xhttp"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xMiddle "github.com/plinthgo/plinth/core/major/xmiddle"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xRoute "github.com/plinthgo/plinth/core/major/xroute"
)

// The import aliases of the specification must compile, including xVaild.
var _ = []any{
	xBase.BaseResponse{},
	xModels.BaseEntity{},
	xRegNode.Nodes{},
	xCtxUtil.GetRequestKey, xError.New, xLog.WithName, xSnowflake.SetDefault, xUtil.Password,
	xVaild.Engine, xCtx.ContextKey(""), xEnv.GetEnv, xBind.Bind[any], xCache.Register, xDB.GetDB,
	xHelper.Serve, xHook.AddHealth, xHttp.GetToken, xMain.Runner, xMiddle.ReleaseAllCors,
	xOption.WithDatabase, xOptCache.FromEnv, xOptDatabase.FromEnv, xReg.Register, xResult.Success,
	xRoute.NoRoute,
}
