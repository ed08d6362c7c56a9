package probe

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tare/result"
)

// KernelLog reads what the kernel logs from when it is opened
// (Documentation/ABI/testing/dev-kmsg; since Linux 3.5).
type KernelLog struct {
	fd int
}

// What is kept of the log between two reads: the first lines, each up to so many bytes. A record of
// debugging is left out.
const (
	mostLogLines = 60
	mostLogText  = 300
	debugLevel   = 7
	kernelOnly   = 8 // records of programs have a facility, which begins here
)

// OpenKernelLog opens the log at its end. The error says what would help.
func OpenKernelLog(root string) (*KernelLog, error) {
	path := filepath.Join(root, "dev/kmsg")
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		if _, err = unix.Seek(fd, 0, unix.SEEK_END); err != nil {
			err = errors.Join(err, unix.Close(fd))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the kernel's log %s: %w: run as root outside a container, or allow it with sysctl kernel.dmesg_restrict=0", path, err)
	}
	return &KernelLog{fd}, nil
}

// Close closes the log.
func (k *KernelLog) Close() error { return unix.Close(k.fd) }

// Read is what the kernel has logged since the read before.
func (k *KernelLog) Read() result.KernelLog {
	log := result.KernelLog{Lines: []result.LogLine{}}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		log.Unread = "/dev/kmsg: " + err.Error()
		return log
	}
	began := time.Now().Add(-time.Duration(now.Nano())) // when the log's clock was at 0, unless it stopped
	record := make([]byte, 8<<10)                       // the kernel writes no longer ones
	for {
		n, err := unix.Read(k.fd, record)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return log
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EPIPE): // the kernel has overwritten some: the next read is of what is left
			log.Unread = "/dev/kmsg: the kernel logged more than it keeps"
			continue
		case err != nil:
			log.Unread = "/dev/kmsg: " + err.Error()
			return log
		}
		line, ok := parseKmsg(string(record[:n]), began)
		switch {
		case !ok:
		case len(log.Lines) < mostLogLines:
			log.Lines = append(log.Lines, line)
		default:
			log.More++
		}
	}
}

// parseKmsg reads a record: "6,339,5140900,-;message", where the numbers are priority, sequence and
// microseconds. ok is false for debugging, for what a program logged, and for no record.
func parseKmsg(record string, began time.Time) (line result.LogLine, ok bool) {
	head, text, whole := strings.Cut(record, ";")
	fields := strings.Split(head, ",")
	if !whole || len(fields) < 3 {
		return line, false
	}
	priority, err1 := strconv.ParseUint(fields[0], 10, 32)
	micro, err2 := strconv.ParseInt(fields[2], 10, 64)
	if err1 != nil || err2 != nil || priority >= kernelOnly || priority == debugLevel {
		return line, false
	}
	text, _, _ = strings.Cut(text, "\n") // more lines are of the device
	if len(text) > mostLogText {
		text = strings.ToValidUTF8(text[:mostLogText], "") + "…"
	}
	at := began.Add(time.Duration(micro) * time.Microsecond)
	return result.LogLine{Level: int(priority), At: at.UTC().Format(time.RFC3339), Text: text}, true
}
