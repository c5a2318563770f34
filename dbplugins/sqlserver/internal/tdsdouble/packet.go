package tdsdouble

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The types of messages, 2.2.3.1.1.
const (
	packetBatch       = 0x01
	packetRPC         = 0x03
	packetReply       = 0x04
	packetAttention   = 0x06
	packetTransaction = 0x0e
	packetLogin7      = 0x10
	packetPrelogin    = 0x12
)

const (
	headerSize  = 8
	packetSize  = 4096
	lastPacket  = 0x01
	largestText = 64 << 20 // bytes of a message
)

// readMessage reads the packets of one message.
func readMessage(r io.Reader) (kind byte, body []byte, err error) {
	for {
		header := make([]byte, headerSize)
		if _, err := io.ReadFull(r, header); err != nil {
			return 0, nil, err
		}
		size := int(binary.BigEndian.Uint16(header[2:])) - headerSize
		if size < 0 || len(body)+size > largestText {
			return 0, nil, fmt.Errorf("packet of %d bytes", size)
		}
		part := make([]byte, size)
		if _, err := io.ReadFull(r, part); err != nil {
			return 0, nil, err
		}
		body = append(body, part...)
		if header[1]&lastPacket != 0 {
			return header[0], body, nil
		}
	}
}

// writeMessage writes one message in packets.
func writeMessage(w io.Writer, kind byte, body []byte) error {
	for id := byte(1); ; id++ {
		part := body[:min(len(body), packetSize-headerSize)]
		body = body[len(part):]
		header := []byte{kind, 0, 0, 0, 0, 0, id, 0}
		if len(body) == 0 {
			header[1] = lastPacket
		}
		binary.BigEndian.PutUint16(header[2:], uint16(len(part)+headerSize)) //nolint:gosec // at most packetSize
		if _, err := w.Write(append(header, part...)); err != nil || len(body) == 0 {
			return err
		}
	}
}
