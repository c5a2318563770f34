package sqlserver_test

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Types of messages, 2.2.3.1.1.
const (
	tdsPacketBatch       = 0x01
	tdsPacketRPC         = 0x03
	tdsPacketReply       = 0x04
	tdsPacketAttention   = 0x06
	tdsPacketTransaction = 0x0e
	tdsPacketLogin7      = 0x10
	tdsPacketPrelogin    = 0x12
)

const (
	tdsHeaderSize = 8
	tdsPacketSize = 4096
	tdsLastPacket = 0x01
	tdsMaxMessage = 64 << 20 // maximum bytes of a message
)

// tdsReadMessage reads the packets of one message.
func tdsReadMessage(r io.Reader) (kind byte, body []byte, err error) {
	for {
		header := make([]byte, tdsHeaderSize)
		if _, err := io.ReadFull(r, header); err != nil {
			return 0, nil, err
		}
		size := int(binary.BigEndian.Uint16(header[2:])) - tdsHeaderSize
		if size < 0 || len(body)+size > tdsMaxMessage {
			return 0, nil, fmt.Errorf("packet of %d bytes", size)
		}
		part := make([]byte, size)
		if _, err := io.ReadFull(r, part); err != nil {
			return 0, nil, err
		}
		body = append(body, part...)
		if header[1]&tdsLastPacket != 0 {
			return header[0], body, nil
		}
	}
}

// tdsWriteMessage writes one message in packets.
func tdsWriteMessage(w io.Writer, kind byte, body []byte) error {
	for id := byte(1); ; id++ {
		part := body[:min(len(body), tdsPacketSize-tdsHeaderSize)]
		body = body[len(part):]
		header := []byte{kind, 0, 0, 0, 0, 0, id, 0}
		if len(body) == 0 {
			header[1] = tdsLastPacket
		}
		// len(part) is less than tdsPacketSize
		binary.BigEndian.PutUint16(header[2:], uint16(len(part)+tdsHeaderSize))
		if _, err := w.Write(append(header, part...)); err != nil || len(body) == 0 {
			return err
		}
	}
}
