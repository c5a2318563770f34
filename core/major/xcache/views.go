package xcache

import "context"

// The views are structs. Code that depends on one of these interfaces instead can be tested with
// another implementation, which embeds the interface and defines the methods that the test needs.
// A Get through an interface allocates the copy that it returns. See ExampleKeyView.

// KeyView has the methods of a KeyCache that applications call most.
type KeyView[K comparable, V any] interface {
	Get(ctx context.Context, key K) (*V, bool, error)
	Set(ctx context.Context, key K, value *V, opts ...Option) error
	GetOrLoad(ctx context.Context, key K, load func(ctx context.Context) (*V, error), opts ...Option) (*V, bool, error)
	Exists(ctx context.Context, key K) (bool, error)
	Delete(ctx context.Context, key K) error
}

// HashView has the methods of a HashCache that applications call most.
type HashView[K, F comparable, V, S any] interface {
	Get(ctx context.Context, key K, field F) (*V, bool, error)
	Set(ctx context.Context, key K, field F, value *V, opts ...Option) error
	GetAll(ctx context.Context, key K) (map[F]V, error)
	SetAll(ctx context.Context, key K, values map[F]V, opts ...Option) error
	GetAllStruct(ctx context.Context, key K) (*S, bool, error)
	SetAllStruct(ctx context.Context, key K, s *S, opts ...Option) error
	Exists(ctx context.Context, key K, field F) (bool, error)
	Remove(ctx context.Context, key K, fields ...F) (removed int, err error)
	Delete(ctx context.Context, key K) error
}

// SetView has the methods of a SetCache that applications call most.
type SetView[K comparable, V any] interface {
	Add(ctx context.Context, key K, members []V, opts ...Option) (added int, err error)
	Members(ctx context.Context, key K) ([]V, error)
	IsMember(ctx context.Context, key K, member V) (bool, error)
	Count(ctx context.Context, key K) (int, error)
	Remove(ctx context.Context, key K, members ...V) (removed int, err error)
	Delete(ctx context.Context, key K) error
}

// ListView has the methods of a ListCache that applications call most.
type ListView[K comparable, V any] interface {
	Prepend(ctx context.Context, key K, values []V, opts ...Option) (length int, err error)
	Append(ctx context.Context, key K, values []V, opts ...Option) (length int, err error)
	Range(ctx context.Context, key K, start, stop int) ([]V, error)
	Index(ctx context.Context, key K, index int) (*V, bool, error)
	Len(ctx context.Context, key K) (int, error)
	Pop(ctx context.Context, key K) (*V, bool, error)
	PopLast(ctx context.Context, key K) (*V, bool, error)
	Remove(ctx context.Context, key K, count int, value V) (removed int, err error)
	Delete(ctx context.Context, key K) error
}

var (
	_ KeyView[int, int]             = (*KeyCache[int, int])(nil)
	_ HashView[int, int, int, view] = (*HashCache[int, int, int, view])(nil)
	_ SetView[int, int]             = (*SetCache[int, int])(nil)
	_ ListView[int, int]            = (*ListCache[int, int])(nil)
)
