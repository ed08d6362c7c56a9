package trace_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
	"tare/trace"
)

// flood sends datagrams to a socket that is read afterwards, and gives how many
// it got. All are in the backlog of one CPU, and the kernel takes them in their order:
// when one that goes to another socket after them has come, they are delivered or lost.
func flood(t *testing.T, sent, buffer int) (received int) {
	onOneCPU(t)
	server, client := pair(t, port)
	defer unix.Close(server)
	defer unix.Close(client)
	last, sender := pair(t, port+1)
	defer unix.Close(last)
	defer unix.Close(sender)
	if err := unix.SetsockoptInt(server, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer); err != nil {
		t.Error(err)
	}
	message := make([]byte, 64)
	for range sent {
		if _, err := unix.Write(client, message); err != nil {
			t.Error(err)
		}
	}
	if _, err := unix.Write(sender, message); err != nil {
		t.Error(err)
	}
	if _, _, err := read(last, message); err != nil {
		t.Errorf("wait for what was sent last: %v", err)
	}
	for {
		if _, _, err := unix.Recvfrom(server, message, unix.MSG_DONTWAIT); err != nil {
			return received // nothing is left
		}
		received++
	}
}

// The ledger has every datagram that did not arrive, with the kernel's reason
// and function.
func ledgerBalancesToThePacket(t *testing.T, tracer *trace.Tracer) {
	const sent = 1000
	for _, c := range []struct{ about, rules, reason, function string }{
		{"small receive buffer", "", "SOCKET_RCVBUFF", "udp"},
		{"random drops", "add table inet t; add chain inet t t { type filter hook input priority 0; };" +
			"add rule inet t t udp dport 5210 numgen random mod 100 < 10 drop", "NETFILTER_DROP", "nft_do_chain"},
	} {
		within(t, func(n trace.Network) {
			buffer := 16 << 10
			if c.rules != "" {
				buffer = 4 << 20
				if out, err := exec.Command("nft", c.rules).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", c.about, err, out)
					return
				}
			}
			received := 0
			path, err := tracer.Follow(trace.Pass{Networks: []trace.Network{n}, Port: port}, func() error {
				received = flood(t, sent, buffer)
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", c.about, err)
			}
			labtest.NotEqual(t, c.about+": datagrams received", received, 0)
			labtest.NotEqual(t, c.about+": datagrams received", received, sent)
			labtest.Equal(t, c.about+": kinds of loss", len(path.Lost), 1)
			for loss, packets := range path.Lost {
				known := strings.Contains(loss.Function, c.function) // which of udp's depends on the kernel's version
				loss.Function = ""
				want := trace.Loss{Reason: c.reason, At: "h1", Device: "lo", Mine: true}
				if loss != want || !known || packets != uint64(sent-received) {
					t.Errorf("%s: %d of %d datagrams received, ledger %v", c.about, received, sent, path.Lost)
				}
			}
		})
	}
}

// leaveUnread closes a pair of sockets in which so many messages wait, which the kernel
// then drops. Their buffers pass no device.
func leaveUnread(messages int) error {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for range messages {
		_, errWrite := unix.Write(ends[0], make([]byte, 64))
		err = errors.Join(err, errWrite)
	}
	return errors.Join(err, unix.Close(ends[1]), unix.Close(ends[0]))
}

// What is lost at the address of a packet that was read before is another packet.
func ledgerLeavesOutOtherPackets(t *testing.T, tracer *trace.Tracer) {
	const sent = 500
	within(t, func(n trace.Network) {
		received := 0
		path, err := tracer.Follow(trace.Pass{Networks: []trace.Network{n}, Port: port}, func() error {
			received = flood(t, sent, 4<<20)
			return leaveUnread(100)
		})
		if err != nil {
			t.Error(err)
		}
		labtest.Equal(t, "datagrams received", received, sent)
		for loss, packets := range path.Lost {
			if loss.Mine {
				t.Errorf("%d packets of the workload are lost by %s at %s, although all were received", packets, loss.Reason, loss.Function)
			}
		}
	})
}
