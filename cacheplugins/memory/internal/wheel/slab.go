package wheel

// ID names a record. None is 0.
type ID uint32

// record is a key with its deadline, in a list of those of the same slot.
type record struct {
	key        string
	deadline   int64
	prev, next ID
}

const (
	chunkBits = 7
	chunkLen  = 1 << chunkBits
)

// slab keeps records in chunks: it grows by one chunk at a time and moves nothing.
type slab struct {
	chunks []*[chunkLen]record
	unused ID // a list over next
	top    ID // the highest id that was ever taken
	live   int
}

func (s *slab) at(id ID) *record { return &s.chunks[id>>chunkBits][id%chunkLen] }

func (s *slab) take() (ID, *record) {
	s.live++
	if id := s.unused; id != 0 {
		r := s.at(id)
		s.unused = r.next
		return id, r
	}
	s.top++
	if int(s.top>>chunkBits) == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkLen]record))
	}
	return s.top, s.at(s.top)
}

// free gives the record back. With the last one all chunks but one go.
func (s *slab) free(id ID) {
	*s.at(id) = record{next: s.unused}
	s.unused = id
	if s.live--; s.live == 0 {
		clear(s.chunks[1:])
		s.chunks = s.chunks[:1]
		s.unused, s.top = 0, 0
	}
}
