#!/bin/sh
# The Go library mdlayher/netlink drops the message that ends a dump. Where the kernel marks a dump as
# interrupted (NLM_F_DUMP_INTR) on that message alone, since the table changed after the last part was
# filled, a caller gets the parts of two states of the table, without an error and without a flag on any
# message that is returned. vishvananda/netlink reads the same header as ErrDumpInterrupted.
#
# The kernel does so: netlink_dump_done() calls nl_dump_check_consistent() for the header of NLMSG_DONE
# (net/netlink/af_netlink.c). It needs neither root nor a change of any table: the library's own test
# connection plays the kernel, with valid messages.
set -eu
version=v1.11.2
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder" && rm -r "$folder"' EXIT
cd "$folder"
cat > go.mod <<'MOD'
module finding
go 1.24
MOD
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
)

func main() {
	for _, interrupted := range []struct {
		what       string
		part, done netlink.HeaderFlags
	}{
		{"on a part", netlink.DumpInterrupted, 0},
		{"on the end alone", 0, netlink.DumpInterrupted},
	} {
		conn := nltest.Dial(func(asked []netlink.Message) ([]netlink.Message, error) {
			h := asked[0].Header
			message := func(of netlink.HeaderType, flags netlink.HeaderFlags) netlink.Message {
				return netlink.Message{Header: netlink.Header{Type: of, Flags: netlink.Multi | flags, Sequence: h.Sequence, PID: h.PID}, Data: make([]byte, 4)}
			}
			return []netlink.Message{message(16, interrupted.part), message(netlink.Done, interrupted.done)}, nil
		})
		got, err := conn.Execute(netlink.Message{Header: netlink.Header{Type: 18, Flags: netlink.Request | netlink.Dump}})
		marked := 0
		for _, m := range got {
			if m.Header.Flags&netlink.DumpInterrupted != 0 {
				marked++
			}
		}
		fmt.Printf("interrupted %s: %d messages, %d of them marked, error %v\n", interrupted.what, len(got), marked, err)
	}
}
GO
go get github.com/mdlayher/netlink@$version > get.log 2>&1 || { cat get.log; exit 1; }
got=$(CGO_ENABLED=0 go run .)
want='interrupted on a part: 1 messages, 1 of them marked, error <nil>
interrupted on the end alone: 1 messages, 0 of them marked, error <nil>'
echo "mdlayher/netlink $version:"
echo "$got"
test "$got" = "$want" || { echo "it was otherwise when this was written:"; echo "$want"; exit 1; }
