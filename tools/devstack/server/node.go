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

// configFile is the configuration file of a node. The node rewrites it if its role
// changes.
const configFile = "node.conf"

// memberKind is a Redis server of a deployment.
var memberKind = &Kind{
	Name: "redis-node", Package: redisKind.Package, users: redisKind.users,
	marker: redisKind.marker, stop: redisKind.stop, drop: redisKind.drop,
	second: true, // the cluster bus
	engine: member{},
}

type member struct{ redis }

func (m member) configure(s *site) error {
	// Replicas synchronize without delay and authenticate with the password of masters.
	return configure(s, append(m.common(s), "masterauth "+s.password, "repl-diskless-sync-delay 0"))
}

func (member) command(s *site) (args []string, input string) {
	return []string{filepath.Join(s.dir, configFile)}, ""
}

func (member) tlsDSN(*site) string { return "" }

// sentinelKind is a Redis Sentinel.
var sentinelKind = &Kind{
	Name: "redis-sentinel-node", Package: redisKind.Package, users: redisKind.users,
	marker: "Sentinel ID is", stop: syscall.SIGTERM, drop: syscall.SIGKILL,
	engine: sentinel{},
}

type sentinel struct{ redis }

// configure sets the password of the sentinel, which it also sends to other sentinels.
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

// synced returns an error until the replica is connected to its master.
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

// fieldOf returns the value of a line "name:value".
func fieldOf(info, name string) string {
	lines := bufio.NewScanner(strings.NewReader(info))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
