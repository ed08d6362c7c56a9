#!/bin/sh
# hey's Average grows with the number of answers beyond a million, whatever the server does: after 1.5 million it is
# 1.5 times what they took. hey keeps the times of the first million answers, adds up those of all, and divides the sum
# by how many it kept. Nothing is reported. The rate counts all answers; the histogram, the percentiles and "Status code
# distribution" are of the first million only: what a server answers after them, with 500 for example, is in none of them.
# By Little's law, rate x average is what was under way: it can't be more than the connections hey was given.
set -eu
version=v0.1.5
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -r "$folder"' EXIT
server=
cd "$folder"
GOBIN=$folder go install github.com/rakyll/hey@$version > get.log 2>&1 || { cat get.log; exit 1; }
mkdir server
cat > server/main.go <<'GO'
package main

import (
	"bytes"
	"fmt"
	"net"
)

// It answers each request of a connection with two bytes.
func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			var asked []byte
			read := make([]byte, 4096)
			for {
				n, err := c.Read(read)
				if err != nil {
					return
				}
				asked = append(asked, read[:n]...)
				for end := bytes.Index(asked, []byte("\r\n\r\n")); end >= 0; end = bytes.Index(asked, []byte("\r\n\r\n")) {
					asked = asked[end+4:]
					if _, err := c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")); err != nil {
						return
					}
				}
			}
		}()
	}
}
GO
(cd server && go mod init server > ../get.log 2>&1 && go build -o ../serve .)
./serve > port &
server=$!
until [ -s port ]; do sleep 0.1; done
connections=200 # Average has four decimals: with few it is rounded too much
ask() { # REQUESTS: how many times as much as there are connections was under way, and the answers with a status
	./hey -n "$1" -c $connections "http://127.0.0.1:$(cat port)/" > out
	awk -v asked="$1" -v connections=$connections '/Average:/ { average = $2 } /Requests\/sec:/ { rate = $2 } /responses$/ { answers += $2 }
		END { printf "%d requests: rate x average is %.2f times the connections; statuses of %d answers\n", asked, rate * average / connections, answers }' out
}
ask 500000 | tee few
ask 1500000 | tee many
awk '{ split($0, part, " is "); exit !(part[2] + 0 < 1.1) }' few || { echo "changed: hey $version is wrong with half a million, too"; exit 1; }
awk '{ split($0, part, " is "); exit !(part[2] + 0 > 1.35) }' many || { echo "changed: hey $version is right with 1.5 million"; exit 1; }
grep -q ' 1000000 answers' many || { echo "changed: hey $version has the statuses of all"; exit 1; }
echo "as found: hey $version, 1.5 million answers"
