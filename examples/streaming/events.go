package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
)

// Message is the data of an event.
type Message struct {
	Text string `json:"text"`
}

type event = xapi.Event[Message]

// maxHistory is the number of events that a client can miss.
const maxHistory = 1000

// history stores the latest events. The ID of an event is its sequence number.
type history struct {
	mu      sync.Mutex
	events  []event
	last    int           // the ID of the last event
	changed chan struct{} // closed at the next event
}

func newHistory() *history { return &history{changed: make(chan struct{})} }

func (h *history) add(m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	h.events = append(h.events, event{ID: strconv.Itoa(h.last), Data: m})
	if len(h.events) > maxHistory {
		h.events = h.events[1:]
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// after returns the events after an ID, and a channel that is closed at the next event.
// If the history does not contain the next event, complete is false.
func (h *history) after(id int) (events []event, complete bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.last - len(h.events) // the ID before the oldest event
	if id < first || id > h.last {
		return h.events, false, h.changed
	}
	return h.events[id-first:], true, h.changed
}

// StreamEvents selects the events after the last one that the client received.
type StreamEvents struct {
	LastEventID int `header:"Last-Event-ID" binding:"min=0"`
}

// stream returns the stored events and then new ones as they occur. If events are
// missing, the first event has the name "reset", so that the client loads the whole
// state.
func (h *history) stream(ctx context.Context, in *StreamEvents) (iter.Seq2[event, error], error) {
	return func(yield func(event, error) bool) {
		id := in.LastEventID
		for {
			events, complete, changed := h.after(id)
			if !complete {
				id = 0
				if !yield(event{Name: "reset"}, nil) {
					return
				}
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			id = lastID(events, id)
			select {
			case <-changed:
			case <-ctx.Done():
				return // the client disconnected, or the service stops
			}
		}
	}, nil
}

func lastID(events []event, id int) int {
	if len(events) > 0 {
		id, _ = strconv.Atoi(events[len(events)-1].ID)
	}
	return id
}

// ImportLines is a body of JSON lines.
type ImportLines struct {
	Body *xapi.Raw
}

// maxLine is the maximum length of a line.
const maxLine = 64 << 10

// importLines adds an event for each line, while the client sends them. It returns their
// number.
func (h *history) importLines(_ context.Context, in *ImportLines) (int, error) {
	lines := bufio.NewScanner(in.Body)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		var m Message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return n, xerror.New(xerror.BodyError,
				xerror.ErrMessage("line "+strconv.Itoa(n+1)+" is not a JSON object"))
		}
		h.add(m)
		n++
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return n, xerror.New(xerror.BodyError,
			xerror.ErrMessage("line "+strconv.Itoa(n+1)+" is too long"))
	}
	return n, lines.Err()
}
