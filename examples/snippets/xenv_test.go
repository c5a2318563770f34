package snippets_test

import (
	"fmt"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

func Example_xEnv() {
	port := xenv.Int(xenv.Port)                      // 1118 where PLINTH_PORT is not set
	limit := xenv.GetEnvInt("ORDERS_PER_MINUTE", 60) // a variable of the application

	fmt.Println(port > 0, limit)
	// Output: true 60
}
