package site

import (
	"net"
	"os"
	"strings"
	"testing"
)

// The machine's network is that in which the socket was made.
func TestLabMachineIsWhereTheSocketWasMade(t *testing.T) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@tare-machine-" + t.Name(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	k := &keeper{listener: listener}
	file, err := k.machine()
	if os.Geteuid() != 0 {
		if err == nil || !strings.Contains(err.Error(), "run tare as root") {
			t.Errorf("an ordinary user's: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(got, want) {
		t.Errorf("it is %v, not %v", got, want)
	}
}
