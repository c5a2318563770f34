package chrome_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/e2e/chrome"
)

func TestNew_Missing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, _, err := chrome.New(t.Context())
	if !errors.Is(err, chrome.ErrMissing) ||
		!strings.Contains(err.Error(), "apt-get install chromium") {
		t.Errorf("New = %v, want ErrMissing with the package to install", err)
	}
}
