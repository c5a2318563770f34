package xhook

import "sync"

// Value returns what the application keeps under key: what the first caller's create returned, for all who ask. It is for an
// extension that has one of something for each application. A key is of an unexported type of its package, as those of a
// context are. A nil life keeps nothing: each call creates.
//
// While create runs, whoever else asks for the same key waits.
func (l *Lifecycle) Value(key any, create func() any) any {
	if l == nil {
		return create()
	}
	l.mu.Lock()
	if l.values == nil {
		l.values = map[any]func() any{}
	}
	value, ok := l.values[key]
	if !ok {
		value = sync.OnceValue(create)
		l.values[key] = value
	}
	l.mu.Unlock()
	return value()
}
