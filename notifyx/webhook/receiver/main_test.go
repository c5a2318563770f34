package receiver_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xlog"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	goleak.VerifyTestMain(m)
}

// logBuffer records log output. It is safe for concurrent use.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns the recorded output.
func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// capture captures the log until the end of the test.
func capture(t *testing.T) *logBuffer {
	t.Helper()
	out := &logBuffer{}
	engine, err := xlog.New(xlog.Config{Format: xlog.FormatJSON, Writer: out})
	if err != nil {
		t.Fatal(err)
	}
	restore := xlog.SetDefault(engine)
	t.Cleanup(func() {
		restore()
		_ = engine.Close()
	})
	return out
}
