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

// patience is the most that one step of a server takes: making its data, starting,
// stopping.
const patience = time.Minute

// Group is the servers of one run. It is safe for concurrent use.
type Group struct {
	dir          string
	lock         *os.File // see mark
	certificates *certificates
	password     string // of every server of the run: their data folders are copies
	templates    map[*Kind]*template

	done context.Context // ends with Close
	end  context.CancelFunc
	busy sync.WaitGroup // calls of Start

	mu    sync.Mutex
	count int
	ports map[int]bool // that were given out
	alive map[*Server]bool
}

// template is a data folder that was made and never used.
type template struct {
	mu      sync.Mutex
	site    *site // nil: not made yet
	version string
}

// NewGroup makes a group without servers, which starts none when ctx has ended. Close has
// to be called.
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
		templates: map[*Kind]*template{},
		ports:     map[int]bool{}, alive: map[*Server]bool{},
	}
	g.done, g.end = context.WithCancel(ctx)
	// Servers run as other users and must get at their folders.
	err = errors.Join(os.WriteFile(g.CA(), pems.authority, 0o600), os.Chmod(dir, 0o711)) //nolint:gosec // see above
	if err != nil {
		return nil, errors.Join(err, g.Close(ctx))
	}
	return g, nil
}

// CA is the file with the certificate that has signed those of the servers.
func (g *Group) CA() string { return filepath.Join(g.dir, "ca.pem") }

// Start starts a server. Where there is none of the kind on this machine the error is a
// *Missing.
func (g *Group) Start(ctx context.Context, kind *Kind) (*Server, error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return g.start(ctx, kind, func(*site) {})
}

// start starts a server whose site was changed.
func (g *Group) start(ctx context.Context, kind *Kind, change func(*site)) (*Server, error) {
	model, version, err := g.prepare(ctx, kind)
	if err != nil {
		return nil, err
	}
	s := &Server{group: g, kind: kind, version: version, site: *model}
	change(&s.site)
	if s.site.dir, err = g.folder(kind, g.number()); err != nil {
		return nil, err
	}
	if err := g.furnish(model.dir, s.site.dir, kind); err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Name, errors.Join(err, os.RemoveAll(s.site.dir)))
	}
	g.mu.Lock()
	g.alive[s] = true
	g.mu.Unlock()
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Delete(ctx))
	}
	return s, nil
}

// enter begins work that Close ends and waits for.
func (g *Group) enter(ctx context.Context) (inner context.Context, leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done.Err() != nil {
		return nil, nil, errors.New("the servers of this run have been stopped")
	}
	g.busy.Add(1)
	inner, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(g.done, cancel)
	return inner, func() {
		detach()
		cancel()
		g.busy.Done()
	}, nil
}

// prepare makes the template of a kind, once.
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
		return nil, "", fmt.Errorf("%s: make the data folder: %w",
			kind.Name, errors.Join(err, os.RemoveAll(dir)))
	}
	ask := found.version
	if ask == nil {
		ask = []string{found.server, "--version"}
	}
	out, err := runAs(ctx, kind.users, dir, "", ask)
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

// number counts servers.
func (g *Group) number() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	return strconv.Itoa(g.count)
}

// folder makes one that only the kind's user can read.
func (g *Group) folder(kind *Kind, name string) (string, error) {
	dir := filepath.Join(g.dir, kind.Name+"-"+name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := own(dir, kind.users); err != nil {
		return "", fmt.Errorf("%s: %w", kind.Name, errors.Join(err, os.RemoveAll(dir)))
	}
	return dir, nil
}

// furnish copies the template into the server's folder and adds the certificate.
func (g *Group) furnish(model, dir string, kind *Kind) error {
	if err := os.CopyFS(dir, os.DirFS(model)); err != nil {
		return err
	}
	if err := g.certificates.install(dir); err != nil {
		return err
	}
	if data := filepath.Join(dir, "data"); exists(data) {
		if err := os.Chmod(data, 0o700); err != nil { //nolint:gosec // a folder
			return err
		}
	}
	return own(dir, kind.users)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// port returns one that is free now and was not given out before, with its second one
// where that is wanted. They are below those that systems give to outgoing connections,
// so that a server that is started again still finds them free.
func (g *Group) port(ctx context.Context, second bool) (int, error) {
	from, to := 15000, 32000
	wanted := []int{0}
	if second {
		to -= secondPort
		wanted = append(wanted, secondPort)
	}
	for range 200 {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(to-from)))
		if err != nil {
			return 0, err
		}
		port := from + int(n.Int64())
		if !slices.ContainsFunc(wanted,
			func(further int) bool { return !g.take(ctx, port+further) }) {
			return port, nil
		}
	}
	return 0, errors.New("found no free port")
}

// take reports whether the port is free and was not given out before, and gives it out.
func (g *Group) take(ctx context.Context, port int) bool {
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

// Close ends every server and removes all that they have left, also when ctx has ended.
func (g *Group) Close(ctx context.Context) error {
	g.mu.Lock()
	g.end()
	g.mu.Unlock()
	g.busy.Wait()
	g.mu.Lock()
	servers := make([]*Server, 0, len(g.alive))
	for s := range g.alive {
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
