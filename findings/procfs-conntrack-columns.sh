#!/bin/sh
# prometheus/procfs reads /proc/net/stat/nf_conntrack by the place of a column and not by its title. The
# kernel has put other counters into two of the places: "clashres" (clashes of two new connections that were
# resolved) is where "searched" was, and "chainlength" (chains found too long) where "delete_list" was. So
# Searched, which was the number of lookups, is now the number of clashes, and DeleteList that of long chains,
# without an error; what node_exporter shows as node_nf_conntrack_stat_searched is of that. The titles of a
# current kernel, which the first line of the file has, are below (net/netfilter/nf_conntrack_standalone.c).
set -eu
version=v0.23.0
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder" && rm -r "$folder"' EXIT
cd "$folder"
mkdir -p proc/net/stat
{
	echo 'entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete search_restart'
	echo '00000010  00000007 00000002 00000000 00000003 00000004 00000000 00000009 00000000 00000001 00000000 00000000 00000005  00000000 00000000 00000000 00000006'
} > proc/net/stat/nf_conntrack
cat > go.mod <<'MOD'
module finding
go 1.25
MOD
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/prometheus/procfs"
)

func main() {
	fs, err := procfs.NewFS("proc")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	all, err := fs.ConntrackStat()
	if err != nil || len(all) != 1 {
		fmt.Println(all, err)
		os.Exit(1)
	}
	fmt.Printf("7 clashes resolved, 9 chains too long: Searched %d, DeleteList %d\n", all[0].Searched, all[0].DeleteList)
}
GO
go get github.com/prometheus/procfs@$version > get.log 2>&1 || { cat get.log; exit 1; }
got=$(CGO_ENABLED=0 go run .)
want='7 clashes resolved, 9 chains too long: Searched 7, DeleteList 9'
echo "prometheus/procfs $version: $got"
test "$got" = "$want" || { echo "it was otherwise when this was written: $want"; exit 1; }
