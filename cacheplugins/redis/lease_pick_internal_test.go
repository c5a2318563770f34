package redis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// The script selects the same slot as driver.Pick.
func TestLeaseAcquire_Pick(t *testing.T) {
	s := openStore(t, serverURL(t))
	b := s.LeaseBackend(leasePrefix(t, s)).(*leases)
	random := rand.New(rand.NewPCG(1, 2))
	marks := []int64{0, 1, 2, 3, 9, 10, -1, -10, math.MinInt64, math.MaxInt64, 1<<53 + 1, 1<<53 + 2}
	anyMark := func() int64 { return marks[random.IntN(len(marks))] }
	granted := 0
	for i := range 500 {
		count := 1 + random.IntN(8)
		if i%10 == 0 {
			count = 150 + random.IntN(300) // the script reads 200 at a time
		}
		r := request(fmt.Sprintf("case-%d", i), time.Minute)
		r.First, r.Count = random.IntN(5), count
		r.Begin = r.First + random.IntN(count)
		r.Past = anyMark()
		now := time.Now()
		type slot struct {
			left time.Duration
			mark int64
		}
		slots := map[int]slot{}
		var fields []any
		for at := range r.First + count {
			if random.IntN(4) == 0 {
				continue // no record
			}
			v := slot{mark: anyMark(), left: -time.Hour}
			if random.IntN(3) > 0 {
				v.left = time.Hour + time.Duration(random.IntN(100))*time.Minute
			}
			slots[at] = v
			fields = append(fields, at,
				fmt.Sprintf("holder %d 7 %d", now.Add(v.left).UnixMicro(), v.mark))
		}
		if len(fields) > 0 {
			must(t, s.client.HSet(t.Context(), b.prefix+r.Name, fields...).Err())
		}
		want, wait, ok := leasedriver.Pick(r,
			func(at int) (time.Duration, int64) { return slots[at].left, slots[at].mark })
		g, err := b.Acquire(t.Context(), r)
		if err != nil || g.OK != ok || ok && (g.Slot != want || g.Mark != slots[want].mark) ||
			!ok && (wait-g.Wait).Abs() > 30*time.Second {
			t.Errorf("case %d, %+v: Acquire = %+v, %v; Pick = %d, %s, %t",
				i, r, g, err, want, wait, ok)
		}
		if ok {
			granted++
		}
	}
	if granted < 100 || granted == 500 {
		t.Errorf("%d of 500 requests were granted, want both results often", granted)
	}
}
