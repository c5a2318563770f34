package xlease

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// A file of records has one block for their start time and one for each slot, from slot 0
// on. A block is text and never crosses a page. Therefore a process that is killed during
// a write leaves the old block or the new block. Writes do not wait for the disk, because
// records need not survive a crash of the host.
const blockSize = 256

type fileRecords struct {
	dir   *directory
	file  *os.File
	start int64
}

// loadStart reads the start time of the records. For a new file it writes now.
func (rs *fileRecords) loadStart(now int64) error {
	found, err := rs.readBlock(0, startFormat, &rs.start)
	if err != nil || found {
		return err
	}
	rs.start = now
	return rs.writeBlock(0, startFormat, now)
}

// readBlock reads the values of a block and reports whether it exists.
func (rs *fileRecords) readBlock(i int, format string, values ...any) (found bool, err error) {
	var block [blockSize]byte
	n, err := rs.file.ReadAt(block[:], int64(i)*blockSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	text := strings.Trim(string(block[:n]), "\x00 \n")
	if text == "" {
		return false, nil
	}
	if _, err := fmt.Sscanf(text, format, values...); err != nil {
		return false, fmt.Errorf(
			"block %d of %s is not a record: remove the file when no process uses it",
			i, rs.file.Name())
	}
	return true, nil
}

func (rs *fileRecords) writeBlock(i int, format string, values ...any) error {
	text := fmt.Sprintf(format, values...)
	_, err := rs.file.WriteAt(fmt.Appendf(nil, "%-*s\n", blockSize-1, text), int64(i)*blockSize)
	return err
}

const (
	startFormat  = "since %d"
	recordFormat = "%s %s %d %d %d" // holder, owner, until, token, mark
)

func (rs *fileRecords) read(slot int) (r record, err error) {
	var owner string
	found, err := rs.readBlock(slot+1, recordFormat, &r.holder, &owner, &r.until, &r.token, &r.mark)
	if found && r.holder != released && rs.dir.exited(owner) {
		r.until = 0
	}
	return r, err
}

func (rs *fileRecords) write(slot int, r record) error {
	return rs.writeBlock(slot+1, recordFormat, r.holder, rs.dir.owner, r.until, r.token, r.mark)
}

func (rs *fileRecords) since() int64 { return rs.start }
