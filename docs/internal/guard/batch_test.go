package guard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/guard"
)

func TestGuard_BatchSize(t *testing.T) {
	h := guard.New(guard.Config{},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		}))
	for messages, want := range map[int]int{
		1: http.StatusOK, 16: http.StatusOK,
		17: http.StatusBadRequest,
	} {
		body := "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","method":"ping"},`,
			messages), ",") + "]"
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost,
			"http://127.0.0.1/api/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want || want != http.StatusOK &&
			!strings.Contains(w.Body.String(), "at most") {
			t.Errorf("%d messages: %d %.200s, want %d", messages, w.Code, w.Body, want)
		}
	}
}
