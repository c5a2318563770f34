package redis

import (
	"context"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// scanCount is the number of keys that the server inspects per step.
const scanCount = 1000

// escape escapes the pattern characters of a prefix.
var escape = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `\`, `\\`)

// Scan implements driver.Scanner. In a cluster it scans one server after another; keys
// may be missed while slots migrate.
func (s *store) Scan(ctx context.Context, prefix string, page func(keys []string) bool) error {
	servers := []redis.UniversalClient{s.client}
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		var err error
		if servers, err = s.masters(ctx, cluster); err != nil {
			return s.failed(ctx, err)
		}
	}
	for _, server := range servers {
		if more, err := s.scan(ctx, server, prefix, page); err != nil || !more {
			return err
		}
	}
	return nil
}

// masters returns a client for each master.
func (s *store) masters(
	ctx context.Context, cluster *redis.ClusterClient,
) (clients []redis.UniversalClient, err error) {
	var mu sync.Mutex
	err = s.within(ctx, func(ctx context.Context) error {
		return cluster.ForEachMaster(ctx, func(_ context.Context, master *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			clients = append(clients, master)
			return nil
		})
	})
	return clients, err
}

// scan scans one server. more is false if page returned false.
func (s *store) scan(
	ctx context.Context, server redis.UniversalClient, prefix string, page func([]string) bool,
) (more bool, err error) {
	pattern := escape.Replace(prefix) + "*"
	for cursor := uint64(0); ; {
		var keys []string
		err := s.within(ctx, func(ctx context.Context) error {
			var err error
			keys, cursor, err = server.Scan(ctx, cursor, pattern, scanCount).Result()
			return err
		})
		if err != nil {
			return false, s.failed(ctx, err)
		}
		if len(keys) > 0 && !page(keys) {
			return false, nil
		}
		if cursor == 0 {
			return true, nil
		}
	}
}
