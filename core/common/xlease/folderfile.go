package xlease

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gofrs/flock"
)

// A file of records has one block for the time at which they started and one for each slot, from
// slot 0 on. A block is text, and never crosses a page, so that a process which is killed while it
// writes leaves the old block or the new one. Writing does not wait for the disk: records need not
// outlive the host.
const blockSize = 256

// fileRecords are the records of one name in a folder.
type fileRecords struct {
	folder *folder
	lock   *flock.Flock
	file   *os.File
	start  int64
}

func (rs *fileRecords) open(path string, now int64) (err error) {
	if err := rs.folder.ensure(path); err != nil {
		return err
	}
	if rs.file, err = os.OpenFile(path, os.O_RDWR|noFollow, 0); err != nil { //nolint:gosec // the folder was configured
		return err
	}
	text, err := rs.block(0)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		rs.start = now
		return rs.writeBlock(0, fmt.Sprintf("since %d", now))
	}
	return rs.scan(0, text, "since %d", &rs.start)
}

// block returns the text of a block; it is empty if the block was never written.
func (rs *fileRecords) block(i int) ([]byte, error) {
	var block [blockSize]byte
	n, err := rs.file.ReadAt(block[:], int64(i)*blockSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return bytes.Trim(block[:n], "\x00 \n"), nil
}

func (rs *fileRecords) writeBlock(i int, text string) error {
	_, err := rs.file.WriteAt(fmt.Appendf(nil, "%-*s\n", blockSize-1, text), int64(i)*blockSize)
	return err
}

func (rs *fileRecords) scan(i int, text []byte, format string, values ...any) error {
	if _, err := fmt.Sscanf(string(text), format, values...); err != nil {
		return fmt.Errorf("xlease: block %d of %s is no record; remove the file once no process uses it", i, rs.file.Name())
	}
	return nil
}

const recordFormat = "%s %s %d %d %d" // holder, owner, until, token, mark

func (rs *fileRecords) read(slot int) (record, error) {
	text, err := rs.block(slot + 1)
	if err != nil || len(text) == 0 {
		return record{}, err
	}
	var r record
	var owner string
	err = rs.scan(slot+1, text, recordFormat, &r.holder, &owner, &r.until, &r.token, &r.mark)
	if err == nil && r.holder != released && rs.folder.exited(owner) {
		r.until = 0
	}
	return r, err
}

func (rs *fileRecords) write(slot int, r record) error {
	return rs.writeBlock(slot+1, fmt.Sprintf(recordFormat, r.holder, rs.folder.owner, r.until, r.token, r.mark))
}

func (rs *fileRecords) since() int64 { return rs.start }

// Close lets the next call open records.
func (rs *fileRecords) Close() error {
	var err error
	if rs.file != nil {
		err = rs.file.Close()
	}
	return errors.Join(err, rs.lock.Close())
}
