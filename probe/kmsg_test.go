package probe

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

func TestKernelLogRecords(t *testing.T) {
	began := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	line, ok := parseKmsg("4,339,5140900,-;br0: port 1(veth-c1) entered disabled state\n SUBSYSTEM=net\n", began)
	labtest.Equal(t, "a record", ok, true)
	labtest.Equal(t, "level", line.Level, 4)
	labtest.Equal(t, "text", line.Text, "br0: port 1(veth-c1) entered disabled state")
	labtest.Equal(t, "time", line.At, "2026-11-26T12:00:05Z")
	for name, record := range map[string]string{
		"debugging": "7,340,1,-;x", "of a program": "30,341,1,-;systemd: x", "no record": "x", "no text": "4,339,5140900,-", "no number": "a,b,c;x",
	} {
		if _, ok := parseKmsg(record, began); ok {
			t.Errorf("%s: it is kept", name)
		}
	}
}

func FuzzKernelLogRecord(f *testing.F) {
	f.Add("4,339,5140900,-;text\n DEVICE=n2\n")
	f.Fuzz(func(t *testing.T, record string) {
		if line, ok := parseKmsg(record, time.Unix(0, 0)); ok && len(line.Text) > mostLogText+len("…") {
			t.Errorf("%q: the text has %d bytes", record, len(line.Text))
		}
	})
}

// A log that is not there is named with what would help; of one that is, each record is read once.
// A FIFO takes the place of the device: it gives what is written to it, and EAGAIN then.
func TestKernelLogIsReadOnce(t *testing.T) {
	root := t.TempDir()
	_, err := OpenKernelLog(root)
	if err == nil {
		t.Fatal("a log that is not there is opened")
	}
	labtest.Contains(t, "error", err.Error(), "kernel.dmesg_restrict")
	if err := os.Mkdir(filepath.Join(root, "dev"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "dev/kmsg")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	log := &KernelLog{fd}
	defer func() { labtest.Equal(t, "error", log.Close(), nil) }()
	if _, err := unix.Write(fd, []byte("3,1,1000,-;nf_conntrack: table full, dropping packet")); err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "lines", len(log.Read().Lines), 1)
	labtest.Equal(t, "lines of the second read", len(log.Read().Lines), 0)
}

func TestMachineFacts(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"proc/meminfo":                  "MemTotal:  1000 kB\nSUnreclaim:  12 kB\nHugePages_Total:  0\n",
		"proc/modules":                  "vxlan 1 0 - Live 0x0\nveth 2 0 - Live 0x0\n",
		"sys/module/vxlan/version":      "0.1\n",
		"sys/module/vxlan/srcversion":   "AB12\n",
		"sys/module/elsewhere/unloaded": "",
	} {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	states, unread := MachineFacts(root)
	labtest.Equal(t, "sources", len(states), 2)
	labtest.Equal(t, "unread", len(unread), 0)
	labtest.Equal(t, "kernel memory", states[0].Values["SUnreclaim"], any(12288.0))
	labtest.Equal(t, "vxlan", states[1].Values["vxlan"], any("0.1"))
	labtest.Equal(t, "veth", states[1].Values["veth"], any("loaded"))
	_, unread = MachineFacts(t.TempDir())
	labtest.Equal(t, "unread where nothing is, modules not needed", len(unread), 1)
}
