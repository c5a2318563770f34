package backoff_test

import (
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
)

func ExampleExponential() {
	p := backoff.Exponential(time.Second, time.Minute)
	for attempt := 1; attempt <= 8; attempt++ {
		fmt.Println(p(attempt))
	}
	// Output:
	// 1s
	// 2s
	// 4s
	// 8s
	// 16s
	// 32s
	// 1m0s
	// 1m0s
}

func ExampleSchedule() {
	p := backoff.Schedule(5*time.Second, 5*time.Minute, time.Hour)
	fmt.Println(p(1), p(2), p(3), p(4))
	// Output: 5s 5m0s 1h0m0s 1h0m0s
}

func ExampleJitter() {
	p := backoff.Jitter(backoff.Constant(time.Minute), 0.5)
	wait := p(1)
	fmt.Println(30*time.Second <= wait && wait <= 90*time.Second)
	// Output: true
}
