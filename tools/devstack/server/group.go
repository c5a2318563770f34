package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// stepTimeout limits each step of a server: initialization, start and stop.
const stepTimeout = time.Minute

// Group is the set of servers of one run. It is safe for concurrent use.
type Group struct {
	dir          string
	lock         *os.File // see mark
	certificates *certificates
	password     string // all servers of the run share it, because their data directories are copies
	templates    map[*Kind]*template

	done    context.Context // canceled by Close
	cancel  context.CancelFunc
	pending sync.WaitGroup // pending calls of Start

	mu      sync.Mutex
	count   int
	ports   map[int]bool // assigned ports
	servers map[*Server]bool
}

// template is an initialized data directory that no server uses.
type template struct {
	mu      sync.Mutex
	site    *site // nil before initialization
	version string
}

// NewGroup returns a group without servers. The group starts no server after ctx is
// canceled. The caller must call Close.
func NewGroup(ctx context.Context) (*Group, error) {
	pems, err := newCertificates()
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	base := temporary()
	sweep(base)
	dir, err := os.MkdirTemp(base, prefix)
	if err != nil {
		return nil, err
	}
	locked, err := mark(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	g := &Group{
		dir: dir, lock: locked, certificates: pems, password: rand.Text(),
		templates: map[*Kind]*template{}, ports: map[int]bool{}, servers: map[*Server]bool{},
	}
	g.done, g.cancel = context.WithCancel(ctx)
	// Servers run as other users and need access to their directories.
	err = errors.Join(os.WriteFile(g.CA(), pems.authority, 0o600), os.Chmod(dir, 0o711)) //nolint:gosec // see above
	if err != nil {
		return nil, errors.Join(err, g.Close(ctx))
	}
	return g, nil
}

// CA returns the file with the CA certificate.
func (g *Group) CA() string { return filepath.Join(g.dir, "ca.pem") }

// Start starts a server. It returns a *Missing if the kind is not installed.
func (g *Group) Start(ctx context.Context, kind *Kind) (*Server, error) {
	ctx, done, err := g.startCall(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return g.start(ctx, kind, func(*site) {})
}

// start starts a server after applying change to its site.
func (g *Group) start(ctx context.Context, kind *Kind, change func(*site)) (*Server, error) {
	model, version, err := g.prepare(ctx, kind)
	if err != nil {
		return nil, err
	}
	s := &Server{group: g, kind: kind, version: version, site: *model}
	change(&s.site)
	if s.site.dir, err = g.folder(kind, g.nextNumber()); err != nil {
		return nil, err
	}
	if err := g.populate(model.dir, s.site.dir, kind); err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Name, errors.Join(err, os.RemoveAll(s.site.dir)))
	}
	g.mu.Lock()
	g.servers[s] = true
	g.mu.Unlock()
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Delete(ctx))
	}
	return s, nil
}

// startCall registers a call that Close cancels and waits for.
func (g *Group) startCall(ctx context.Context) (inner context.Context, done func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done.Err() != nil {
		return nil, nil, errors.New("the group is closed")
	}
	g.pending.Add(1)
	inner, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(g.done, cancel)
	return inner, func() {
		detach()
		cancel()
		g.pending.Done()
	}, nil
}

// prepare initializes the template of a kind once.
func (g *Group) prepare(ctx context.Context, kind *Kind) (model *site, version string, err error) {
	t := g.template(kind)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.site != nil {
		return t.site, t.version, nil
	}
	found, err := kind.look()
	if err != nil {
		return nil, "", err
	}
	dir, err := g.folder(kind, "template")
	if err != nil {
		return nil, "", err
	}
	s := &site{programs: found, dir: dir, password: g.password, users: kind.users}
	if err := kind.prepare(ctx, s); err != nil {
		kind.discard(context.WithoutCancel(ctx), s)
		return nil, "", fmt.Errorf("%s: initialize the data directory: %w",
			kind.Name, errors.Join(err, os.RemoveAll(dir)))
	}
	versionCommand := found.version
	if versionCommand == nil {
		versionCommand = []string{found.server, "--version"}
	}
	out, err := runAs(ctx, kind.users, dir, "", versionCommand)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", kind.Name, err)
	}
	t.site, t.version = s, kind.product(out)
	return t.site, t.version, nil
}

func (g *Group) template(kind *Kind) *template {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.templates[kind] == nil {
		g.templates[kind] = &template{}
	}
	return g.templates[kind]
}

// nextNumber returns the number of the next server.
func (g *Group) nextNumber() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	return strconv.Itoa(g.count)
}

// folder creates a directory that only the user of the kind can read.
func (g *Group) folder(kind *Kind, name string) (string, error) {
	dir := filepath.Join(g.dir, kind.Name+"-"+name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := changeOwner(dir, kind.users); err != nil {
		return "", fmt.Errorf("%s: %w", kind.Name, errors.Join(err, os.RemoveAll(dir)))
	}
	return dir, nil
}

// populate copies the template to the directory of a server and adds the certificate.
func (g *Group) populate(model, dir string, kind *Kind) error {
	if err := os.CopyFS(dir, os.DirFS(model)); err != nil {
		return err
	}
	if err := g.certificates.install(dir); err != nil {
		return err
	}
	if data := filepath.Join(dir, "data"); exists(data) {
		if err := os.Chmod(data, 0o700); err != nil { //nolint:gosec // a directory
			return err
		}
	}
	return changeOwner(dir, kind.users)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// port returns a free port that was not assigned before. If second is set,
// port+secondPort is free, too. The ports are below the ephemeral range, so that they
// stay free while a server restarts.
func (g *Group) port(ctx context.Context, second bool) (int, error) {
	from, to := 15000, 32000
	offsets := []int{0}
	if second {
		to -= secondPort
		offsets = append(offsets, secondPort)
	}
	for range 200 {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(to-from)))
		if err != nil {
			return 0, err
		}
		port := from + int(n.Int64())
		if !slices.ContainsFunc(offsets,
			func(offset int) bool { return !g.reserve(ctx, port+offset) }) {
			return port, nil
		}
	}
	return 0, errors.New("no free port found")
}

// reserve assigns a port and reports whether it was free and not assigned before.
func (g *Group) reserve(ctx context.Context, port int) bool {
	g.mu.Lock()
	taken := g.ports[port]
	g.ports[port] = true
	g.mu.Unlock()
	if taken {
		return false
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp",
		net.JoinHostPort(loopback, strconv.Itoa(port)))
	return err == nil && listener.Close() == nil
}

// Close stops all servers and removes their files, even if ctx is canceled.
func (g *Group) Close(ctx context.Context) error {
	g.mu.Lock()
	g.cancel()
	g.mu.Unlock()
	g.pending.Wait()
	g.mu.Lock()
	servers := make([]*Server, 0, len(g.servers))
	for s := range g.servers {
		servers = append(servers, s)
	}
	g.mu.Unlock()
	problems := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { problems[i] = s.Delete(ctx) })
	}
	all.Wait()
	return errors.Join(errors.Join(problems...), os.RemoveAll(g.dir), g.lock.Close())
}
