package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	client "github.com/redis/go-redis/v9"
)

// configFile is the file with the settings of a node, which the node rewrites when its
// role changes.
const configFile = "node.conf"

// memberKind is a Redis that belongs to a deployment.
var memberKind = &Kind{
	Name: "redis-node", Package: redisKind.Package, users: redisKind.users,
	marker: redisKind.marker, stop: redisKind.stop, drop: redisKind.drop,
	second: true, // for the bus of a cluster
	engine: member{},
}

type member struct{ redis }

func (m member) configure(s *site) error {
	// Replicas get the data at once, and prove themselves as masters do.
	return configure(s, append(m.common(s), "masterauth "+s.password, "repl-diskless-sync-delay 0"))
}

func (member) command(s *site) (args []string, input string) {
	return []string{filepath.Join(s.dir, configFile)}, ""
}

func (member) tlsDSN(*site) string { return "" }

// sentinelKind is a Redis that watches others.
var sentinelKind = &Kind{
	Name: "redis-sentinel-node", Package: redisKind.Package, users: redisKind.users,
	marker: "Sentinel ID is", stop: syscall.SIGTERM, drop: syscall.SIGKILL,
	engine: sentinel{},
}

type sentinel struct{ redis }

// configure gives the sentinel a password, which it also shows to the others.
func (sentinel) configure(s *site) error {
	return configure(s, []string{
		fmt.Sprintf("port %d", s.port), "bind " + loopback, "requirepass " + s.password,
		"dir " + s.dir, "daemonize no",
	})
}

func (sentinel) command(s *site) (args []string, input string) {
	return []string{filepath.Join(s.dir, configFile), "--sentinel"}, ""
}

func (sentinel) tlsDSN(*site) string { return "" }

func configure(s *site, settings []string) error {
	_, err := s.write(configFile, strings.Join(append(settings, s.settings...), "\n")+"\n")
	return err
}

// synced reports a replica that has no link to its master yet.
func synced(ctx context.Context, c *client.Client) error {
	info, err := c.Info(ctx, "replication").Result()
	if err != nil {
		return err
	}
	if fieldOf(info, "master_link_status") != "up" {
		return errors.New("the replica has no link to its master")
	}
	return nil
}

// fieldOf reads one of the lines "name:value".
func fieldOf(info, name string) string {
	lines := bufio.NewScanner(strings.NewReader(info))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
