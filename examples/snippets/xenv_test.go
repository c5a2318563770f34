package snippets_test

import (
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

type settings struct {
	PerMinute int           `env:"ORDERS_PER_MINUTE" default:"60" min:"1" doc:"Maximum number of orders of a client."`
	Timeout   time.Duration `env:"ORDERS_TIMEOUT" default:"5s" max:"1m" doc:"Timeout of warehouse requests."`
	Key       xenv.Secret   `env:"ORDERS_KEY" min:"32" doc:"Key that signs receipts."`
}

func init() { xenv.Register[settings]("Orders") }

func load() (settings, error) { return xenv.Load[settings](xenv.Environment()) }

func Example_xEnv() {
	s, err := load()
	fmt.Println(s.PerMinute, s.Timeout, err)
	// Output: 60 5s <nil>
}
