package xhelper_test

import (
	"testing"

	"github.com/gin-gonic/gin"

	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

// budget is what id, header, recovery, access log, error middleware and envelope may allocate, with a
// small struct as data: the exchange, and the struct itself when it becomes an any.
const budget = 2

func TestARequestStaysWithinItsBudgetOfAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	handler := plinthGin(t)
	w, req := newSink(), newRequest(t)
	got := testing.AllocsPerRun(1000, func() {
		handler.ServeHTTP(w, req)
		w.reset()
	})
	if got > budget {
		t.Errorf("allocations = %v, want at most %d", got, budget)
	}
}

func TestARequestWithoutDataAllocatesOnce(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	engine, ok := plinthGin(t).(*gin.Engine)
	if !ok {
		t.Fatal("no engine")
	}
	engine.GET("/ping", func(c *gin.Context) { xResult.Success(c, "pong") })
	w, req := newSink(), newRequest(t)
	req.URL.Path = "/ping"
	if got := testing.AllocsPerRun(1000, func() { engine.ServeHTTP(w, req); w.reset() }); got > 1 {
		t.Errorf("allocations = %v, want 1", got)
	}
}
