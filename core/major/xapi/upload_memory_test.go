package xapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xoption"
)

// An upload is never stored in memory or in a temporary file.
func TestUpload_Memory(t *testing.T) {
	if testing.Short() {
		t.Skip("uploads 256 MiB")
	}
	const size, maxGrowth = 256 << 20, 8 << 20
	temp, target := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	root, err := os.OpenRoot(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	url, _ := serveHTTP(t, func(e *gin.Engine) {
		xapi.Post(e, "/upload", func(_ context.Context, in *struct{ Upload *xapi.Upload }) (int64, error) {
			for part, err := range in.Upload.Parts() {
				if err != nil {
					return 0, err
				}
				f, err := root.Create(part.FileName)
				if err != nil {
					return 0, err
				}
				n, err := io.Copy(f, part)
				return n, errors.Join(err, f.Close())
			}
			return 0, nil
		})
	}, xoption.WithServe(func(c *xhelper.Config) {
		c.RouteMaxBodyBytes = map[string]int64{"/upload": 1 << 30}
	}))
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	watch := &memoryWatch{temp: temp, left: size}
	go func() {
		part, err := form.CreateFormFile("file", "large.bin")
		if err == nil {
			_, err = io.Copy(part, watch)
		}
		_ = pw.CloseWithError(errors.Join(err, form.Close()))
	}()
	watch.base = heap()
	status, got := post(t, url+"/upload", form.FormDataContentType(), pr)
	if status != http.StatusOK || !strings.Contains(got, fmt.Sprintf(`"data":%d`, size)) {
		t.Fatalf("response = %d %s, want %d bytes", status, got, size)
	}
	if info, err := os.Stat(filepath.Join(target, "large.bin")); err != nil || info.Size() != size {
		t.Errorf("file = %v, %v; want %d bytes", info, err, size)
	}
	if watch.peak > maxGrowth || watch.files > 0 {
		t.Errorf("heap grew by %d bytes, %d temporary files; want at most %d and none",
			watch.peak, watch.files, maxGrowth)
	}
	t.Logf("heap grew by %d KiB", watch.peak>>10)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// memoryWatch is a body of zeros that measures the process every 16 MiB.
type memoryWatch struct {
	temp       string
	left, last int
	base, peak uint64
	files      int
}

func (w *memoryWatch) Read(p []byte) (int, error) {
	const interval = 16 << 20
	if w.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), w.left)
	clear(p[:n])
	w.left -= n
	if w.last += n; w.last >= interval {
		w.last = 0
		w.peak = max(w.peak, heap()-min(heap(), w.base))
		files, _ := os.ReadDir(w.temp)
		w.files = max(w.files, len(files))
	}
	return n, nil
}
