package wheel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/plinthgo/plinth/cacheplugins/memory/internal/wheel"
)

// never is what no test reaches by moving its clock.
const never = math.MaxInt64

// model is a wheel beside a map that it must agree with.
type model struct {
	now   int64
	wheel *wheel.Wheel
	keys  map[string]*held
}

type held struct {
	id       wheel.ID
	deadline int64
}

func newModel(now int64) *model {
	m := &model{now: now, keys: map[string]*held{}}
	m.wheel = wheel.New(func() int64 { return m.now })
	return m
}

// put adds the key or moves it.
func (m *model) put(t *testing.T, key string, deadline int64) {
	t.Helper()
	var at int64
	if h := m.keys[key]; h != nil {
		at = m.wheel.Move(h.id, deadline)
		h.deadline = deadline
	} else {
		h = &held{deadline: deadline}
		h.id, at = m.wheel.Add(key, deadline)
		m.keys[key] = h
	}
	if at > deadline || m.wheel.Next() > at {
		t.Fatalf("Next = %d, the key's slot begins at %d, want neither after the deadline %d", m.wheel.Next(), at, deadline)
	}
}

func (m *model) remove(key string) {
	if h := m.keys[key]; h != nil {
		m.wheel.Remove(h.id)
		delete(m.keys, key)
	}
}

// drain takes out what is due and fails where that is not what the map says.
func (m *model) drain(t *testing.T) {
	t.Helper()
	var want, got []string
	for key, h := range m.keys {
		if h.deadline <= m.now {
			want = append(want, key)
		}
	}
	buf := make([]string, 3)
	for m.wheel.Next() <= m.now {
		n := m.wheel.Due(buf)
		for _, key := range buf[:n] {
			got = append(got, key)
			m.remove(key)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("at %d due are %v, want %v", m.now, got, want)
	}
	if m.wheel.Len() != len(m.keys) {
		t.Fatalf("Len = %d, want %d", m.wheel.Len(), len(m.keys))
	}
}

// some takes out what one call finds.
func (m *model) some(t *testing.T) {
	t.Helper()
	buf := make([]string, 3)
	for _, key := range buf[:m.wheel.Due(buf)] {
		if h := m.keys[key]; h == nil || h.deadline > m.now {
			t.Fatalf("%s is found at %d and is not due", key, m.now)
		}
		m.remove(key)
	}
}

func FuzzWheel(f *testing.F) {
	f.Add(int64(0), []byte("abcdefghijklmnopqrstuvwxyz0123456789"))
	f.Add(int64(-1)<<62, []byte{255, 0, 255, 1, 0, 254, 2, 9, 128, 127, 3, 3, 3, 250, 250})
	f.Fuzz(func(t *testing.T, start int64, script []byte) {
		const end = int64(1) << 61
		m := newModel(start % end)
		for i := 0; i+1 < len(script); i += 2 {
			key := strconv.Itoa(int(script[i] / 8))
			ahead := int64(1) << (script[i+1] % 61)
			switch script[i] % 8 {
			case 0:
				m.remove(key)
			case 1:
				m.now = min(m.now+ahead, end)
				m.drain(t)
			case 2:
				m.now = min(m.now+int64(script[i+1])<<16, end)
				m.drain(t)
			case 3:
				m.now = max(m.now-ahead>>8, -end)
				m.drain(t)
			case 4:
				m.put(t, key, m.now-ahead>>4)
			case 5:
				m.now = min(m.now+ahead, end)
				m.some(t)
			default:
				m.put(t, key, m.now+ahead+int64(i)<<18)
			}
		}
		m.now = never - 1
		m.drain(t)
		if len(m.keys) > 0 || m.wheel.Next() != never {
			t.Fatalf("%d keys are left, and Next is %d; want none, and never", len(m.keys), m.wheel.Next())
		}
	})
}

func TestAWheelAgreesWithAMap(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := newModel(r.Int64N(1 << 50))
		for range 20_000 {
			key := strconv.Itoa(r.IntN(500))
			switch r.IntN(10) {
			case 0:
				m.remove(key)
			case 1:
				m.now += r.Int64N(int64(1) << (10 + r.IntN(32)))
				m.drain(t)
			case 2:
				if r.IntN(20) == 0 {
					m.now -= r.Int64N(int64(time.Minute))
				}
			case 3:
				m.now += r.Int64N(int64(1) << (10 + r.IntN(32)))
				m.some(t)
			default:
				m.put(t, key, m.now+r.Int64N(int64(1)<<(10+r.IntN(40))))
			}
		}
	}
}

func TestAKeyThatIsFoundIsNotFoundAgainUntilItIsMoved(t *testing.T) {
	m := newModel(0)
	buf := make([]string, 4)
	for range 3 {
		m.put(t, "k", m.now+5)
		m.now += int64(time.Second)
		if n := m.wheel.Due(buf); n != 1 || buf[0] != "k" {
			t.Fatalf("Due = %q, want k", buf[:n])
		}
		m.now += int64(365 * 24 * time.Hour)
		if n := m.wheel.Due(buf); n != 0 || m.wheel.Len() != 1 {
			t.Fatalf("Due = %q of %d keys, want none of the one", buf[:n], m.wheel.Len())
		}
	}
}

func TestTheNextTimeIsNear(t *testing.T) {
	m := newModel(0)
	m.put(t, "k", int64(time.Hour))
	calls := 0
	for ; m.wheel.Len() > 0; calls++ {
		if next := m.wheel.Next(); next < m.now {
			t.Fatalf("Next = %d, which has passed", next)
		}
		m.now = max(m.wheel.Next(), m.now)
		m.drain(t)
	}
	if calls > 10 || m.now != int64(time.Hour) {
		t.Errorf("a key for an hour was gone at %s after %d calls, want an hour and ten at most", time.Duration(m.now), calls)
	}
}

func TestAnEmptiedWheelLetsItsMemoryGo(t *testing.T) {
	m := newModel(0)
	got := testing.AllocsPerRun(5, func() {
		for i := range 10_000 {
			m.put(t, strconv.Itoa(i), int64(i))
		}
		m.now = 10_000
		m.drain(t)
		m.now = 0
	})
	if got < 10_000/128 {
		t.Errorf("%v allocations to fill a wheel again, want at least one for each 128 keys", got)
	}
}

// BenchmarkDue times single calls on one of 16 wheels of a store of a million keys. All end within a second.
func BenchmarkDue(b *testing.B) {
	const n = 1_000_000 / 16
	var calls []time.Duration
	for b.Loop() {
		now := int64(0)
		w := wheel.New(func() int64 { return now })
		ids := make(map[string]wheel.ID, n)
		for i := range n {
			key := strconv.Itoa(i)
			ids[key], _ = w.Add(key, int64(time.Hour)+int64(i)*int64(time.Second)/n)
		}
		buf := make([]string, 16)
		for now = int64(time.Hour) + int64(time.Second); w.Len() > 0; {
			start := time.Now()
			found := w.Due(buf)
			calls = append(calls, time.Since(start))
			for _, key := range buf[:found] {
				w.Remove(ids[key])
			}
		}
	}
	slices.Sort(calls)
	long := len(calls) - func() int { i, _ := slices.BinarySearch(calls, 100*time.Microsecond); return i }()
	b.ReportMetric(float64(calls[len(calls)*999/1000].Nanoseconds()), "p99.9-ns")
	b.ReportMetric(float64(calls[len(calls)-1].Nanoseconds()), "max-ns")
	b.ReportMetric(float64(long)*100/float64(len(calls)), "%-over-100µs")
}

func BenchmarkAddMoveRemove(b *testing.B) {
	w := wheel.New(func() int64 { return 0 })
	for i := range 60_000 {
		w.Add(strconv.Itoa(i), int64(i)*int64(time.Second))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id, _ := w.Add("k", int64(time.Hour))
		w.Move(id, int64(time.Minute))
		w.Remove(id)
	}
}
