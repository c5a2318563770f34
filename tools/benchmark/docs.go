package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

const (
	// docsCalls is the number of calls of each tool.
	docsCalls = 2000
	// docsStarts is the number of server starts.
	docsStarts = 9
	// docsStartTarget is the limit of the time from the start of the process to its first
	// response.
	docsStartTarget = 200 * time.Millisecond
	// docsMemoryTarget is the limit of resident memory after startup, in MB.
	docsMemoryTarget = 40
	// docsTimeout is the timeout of one start.
	docsTimeout = 10 * time.Second
)

// docsTools lists the tool calls of the documentation server, with the limits of their
// p50.
var docsTools = []struct {
	name, arguments string
	target          time.Duration
}{
	{"sector", `{}`, time.Millisecond},
	{"list", `{"sector":"base-go"}`, time.Millisecond},
	{"search", `{"query":"graceful shutdown timeout"}`, time.Millisecond},
	{"search", `{"query":"缓存"}`, time.Millisecond},
	{"detail", `{"sector":"guide","path":"/grpc"}`, 2 * time.Millisecond},
}

// docsClaims measures the documentation server in a separate process.
func docsClaims() []claim {
	return []claim{
		{name: "startup of the documentation server", show: docsStart},
		{
			name: "tool call of the documentation server over loopback, p50 (targets 1 ms, detail 2 ms)",
			show: docsLatency,
		},
	}
}

// docsStart measures the time from the start of the process to its first response. It
// also measures the resident memory after startup, and after a request for every page.
func docsStart() (string, error) {
	if _, err := docsBinary(); err != nil { // the first start must not include the build
		return "", err
	}
	var times []time.Duration
	var server *docsServer
	for range docsStarts {
		if server != nil {
			server.stop()
		}
		start := time.Now()
		var err error
		if server, err = startDocs(); err != nil {
			return "", err
		}
		times = append(times, time.Since(start))
	}
	defer server.stop()
	<-time.After(time.Second) // the server releases the memory of its startup
	fresh, err := server.resident()
	if err != nil {
		return "", err
	}
	pages, err := server.requestPages()
	if err != nil {
		return "", err
	}
	warm, err := server.resident()
	slices.Sort(times)
	middle := times[len(times)/2]
	return fmt.Sprintf("median of %d starts %d ms (%d to %d) ≤ %s %s; %.1f MB resident ≤ %d MB %s; %.1f MB after all %d pages were requested",
		docsStarts, middle.Milliseconds(), times[0].Milliseconds(),
		times[len(times)-1].Milliseconds(), docsStartTarget,
		mark(cmp.Compare(middle, docsStartTarget)), fresh, docsMemoryTarget,
		mark(cmp.Compare(fresh, docsMemoryTarget)), warm, pages), err
}

// docsLatency calls each tool. For comparison, it also calls a net/http handler that
// responds to a POST with 1 KB.
func docsLatency() (string, error) {
	server, err := startDocs()
	if err != nil {
		return "", err
	}
	defer server.stop()
	baseline := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(make([]byte, 1024))
	}))
	defer baseline.Close()
	bare, err := percentiles(baseline.URL, "{}")
	if err != nil {
		return "", err
	}
	lines := []string{fmt.Sprintf("bare POST %.3f ms (p99 %.2f)", bare.p50, bare.p99)}
	for _, tool := range docsTools {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool.name +
			`","arguments":` + tool.arguments + `}}`
		p, err := percentiles(server.url+"/api/mcp", body)
		if err != nil {
			return "", fmt.Errorf("%s: %w", tool.name, err)
		}
		lines = append(lines, fmt.Sprintf("%s %s %.3f ms (p99 %.2f, %.1f times the bare POST) ≤ %s %s",
			tool.name, tool.arguments, p.p50, p.p99, p.p50/bare.p50, tool.target,
			mark(cmp.Compare(p.p50, milliseconds(tool.target)))))
	}
	return strings.Join(lines, "\n  "), nil
}

type percentile struct{ p50, p99 float64 } // ms

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// percentiles posts the body repeatedly over one connection.
func percentiles(url, body string) (percentile, error) {
	times := make([]time.Duration, 0, docsCalls)
	for range docsCalls {
		start := time.Now()
		response, err := post(url, body)
		if err != nil {
			return percentile{}, err
		}
		times = append(times, time.Since(start))
		if bytes.Contains(response, []byte(`"isError":true`)) ||
			bytes.Contains(response, []byte(`"error":{`)) {
			return percentile{}, fmt.Errorf("unexpected response: %.200s", response)
		}
	}
	slices.Sort(times)
	p50, p99 := times[len(times)/2], times[len(times)*99/100]
	return percentile{milliseconds(p50), milliseconds(p99)}, nil
}

func post(url, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url,
		strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	return text, errors.Join(err, response.Body.Close())
}

// docsServer is a running plinth-docs.
type docsServer struct {
	command *exec.Cmd
	url     string
}

// startDocs starts the server and waits for its first response. The server is built once.
func startDocs() (*docsServer, error) {
	binary, err := docsBinary()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed immediately: it only finds a free port
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &docsServer{
		url:     "http://" + addr,
		command: exec.Command(binary, "serve", "--addr", addr), //nolint:noctx // stop interrupts it
	}
	s.command.Env = append(os.Environ(), "PLINTH_DRAIN_DELAY=0s", "LOG_LEVEL=warn")
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(docsTimeout); ; {
		if _, err := get(s.url + "/healthz"); err == nil {
			return s, nil
		} else if time.Now().After(deadline) {
			s.stop()
			return nil, fmt.Errorf("start plinth-docs: no response: %w", err)
		}
		<-time.After(time.Millisecond)
	}
}

func (s *docsServer) stop() {
	_ = s.command.Process.Signal(os.Interrupt)
	_ = s.command.Wait()
}

// docsBuilt is the path of the server after docsBinary has built it.
var docsBuilt string

func docsBinary() (string, error) {
	if docsBuilt != "" {
		return docsBuilt, nil
	}
	root, err := workspace.Find()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "plinth-benchmark-")
	if err != nil {
		return "", err
	}
	atExit(func() { _ = os.RemoveAll(dir) })
	binary := filepath.Join(dir, "plinth-docs")
	command := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", //nolint:noctx // it exits by itself
		"-o", binary, "./cmd/plinth-docs")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	command.Dir = filepath.Join(root, "docs")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build plinth-docs: %w\n%s", err, output)
	}
	docsBuilt = binary
	return binary, nil
}

func get(url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s: %s", url, response.Status))
	}
	return body, errors.Join(err, response.Body.Close())
}

// requestPages requests every page of the sitemap, and returns the number of pages.
func (s *docsServer) requestPages() (int, error) {
	siteMap, err := get(s.url + "/sitemap.xml")
	if err != nil {
		return 0, err
	}
	pages := regexp.MustCompile(`<loc>([^<]+)</loc>`).FindAllSubmatch(siteMap, -1)
	if len(pages) == 0 {
		return 0, fmt.Errorf("sitemap contains no page: %.200s", siteMap)
	}
	for _, page := range pages {
		if _, err := get(string(page[1])); err != nil {
			return 0, err
		}
	}
	return len(pages), nil
}

// resident returns the resident memory of the server in MB, as reported by the kernel.
func (s *docsServer) resident() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0, errors.New("resident memory: /proc/PID/status has no VmRSS")
	}
	kb, err := strconv.Atoi(string(m[1]))
	return float64(kb) / 1024, err
}
