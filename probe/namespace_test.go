package probe

import (
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// TestLabCountersAreThoseOfTheNamespace overflows a UDP receive buffer in a
// network namespace: the counters there account for each datagram.
func TestLabCountersAreThoseOfTheNamespace(t *testing.T) {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the namespace
		failed <- overflow(t)
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

func overflow(t *testing.T) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return errors.Join(errors.New("make a network namespace: this test needs root"), err)
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	const sent, size = 200, 1000
	received, err := flood(sent, size)
	if err != nil {
		return err
	}
	counters, err := snmp().count(newView("/"))
	if err != nil {
		return err
	}
	dropped := int64(counters["Udp.RcvbufErrors"])
	if dropped == 0 || received+dropped != sent || int64(counters["Udp.InDatagrams"]) != received {
		t.Errorf("sent %d, received %d; counted %d dropped, %d in",
			sent, received, dropped, int64(counters["Udp.InDatagrams"]))
	}
	devices, err := NetDevices("/")
	if err != nil {
		return err
	}
	lo := devices["lo"]
	const packet = 20 + 8 + size // IPv4 and UDP headers; loopback leaves Ethernet's out
	labtest.Equal(t, "packets that lo sent", lo.TxPackets, sent)
	labtest.Equal(t, "bytes that lo sent", lo.TxBytes, sent*packet)
	labtest.Equal(t, "packets that lo received", lo.RxPackets, sent)
	labtest.Equal(t, "bytes that lo received", lo.RxBytes, sent*packet)
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
	}
	return errors.Join(err, unix.Close(fd))
}

// flood sends datagrams to a receiver with a small buffer, which reads only
// when all have been sent, and returns how many it got.
func flood(count, size int) (received int64, err error) {
	receiver, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, receiver.Close()) }()
	if err := receiver.SetReadBuffer(8 << 10); err != nil {
		return 0, err
	}
	sender, err := net.DialUDP("udp4", nil, receiver.LocalAddr().(*net.UDPAddr))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sender.Close()) }()
	for range count {
		if _, err := sender.Write(make([]byte, size)); err != nil {
			return 0, err
		}
	}
	if err := arrived(count); err != nil {
		return 0, err
	}
	raw, err := receiver.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) {
		for buf := make([]byte, size); ; received++ {
			if _, _, err = unix.Recvfrom(int(fd), buf, unix.MSG_DONTWAIT); err != nil {
				return
			}
		}
	})
	if errors.Is(err, unix.EAGAIN) { // it is empty
		err = nil
	}
	return received, errors.Join(failed, err)
}

// arrived waits until loopback has delivered count packets, which the kernel may do later.
func arrived(count int) error {
	limit, look := time.After(time.Minute), time.NewTicker(time.Millisecond)
	for {
		counters, err := snmp().count(newView("/"))
		if err != nil || counters["Ip.InDelivers"] >= float64(count) {
			return err
		}
		select {
		case <-look.C:
		case <-limit:
			return errors.New("the datagrams did not arrive within a minute")
		}
	}
}
