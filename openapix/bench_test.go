package openapix_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/openapix"
)

// largeEngine returns an engine with 500 routes of the fixture's types.
func largeEngine() *gin.Engine {
	engine := gin.New()
	for i := range 100 {
		id := func(name string) xapi.Option { return xapi.ID(fmt.Sprintf("%s%d", name, i)) }
		g := xapi.Group(engine, fmt.Sprintf("/v%d/users", i), xapi.Tag(fmt.Sprintf("users%d", i)))
		xapi.Post(g, "", users{}.Create, id("create"), xapi.Errors(outOfStock))
		xapi.Get(g, "", users{}.List, id("list"))
		xapi.Get(g, "/:id", getUser, id("get"))
		xapi.Put(g, "/:id", users{}.Update, id("update"))
		xapi.Put(g, "/:id/avatar", setAvatar, id("avatar"))
	}
	return engine
}

func BenchmarkDocument(b *testing.B) {
	engine := largeEngine()
	var size int
	for b.Loop() {
		text, err := openapix.Document(engine)
		if err != nil {
			b.Fatal(err)
		}
		size = len(text)
	}
	b.ReportMetric(float64(size), "bytes")
}

// Other processes slow down single runs, so the test needs one run within the limit.
func TestDocument_Duration(t *testing.T) {
	const runs, limit = 100, 50 * time.Millisecond * raceFactor
	engine := largeEngine()
	best := time.Duration(math.MaxInt64)
	for i := 0; i < runs && best > limit; i++ {
		start := time.Now()
		if _, err := openapix.Document(engine); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	if best > limit {
		t.Errorf("a document of 500 routes needs %v, want at most %v", best, limit)
	}
}
