package main

import (
	"fmt"
)

// nginxFile is the name of the configuration, nginxPort where it listens.
const (
	nginxFile = "nginx.conf"
	nginxPort = 8080
)

// The words of the page for what differs from run to run.
const (
	folderWord  = "FOLDER"
	addressWord = "ADDRESS"
)

// nginxConfiguration answers every request with 16 bytes from memory, and never
// ends a connection by itself. Its user is root because that is the only one in
// the lab of an ordinary user.
func nginxConfiguration(c call) string {
	text := `user root;
daemon off;
master_process off;
error_log stderr;
pid nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
`
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		text += fmt.Sprintf("  %s_temp_path %s;\n", kind, c.folder)
	}
	return text + fmt.Sprintf(`  server {
    listen %s:%d;
    location / { default_type text/plain; return 200 "0123456789abcdef"; }
  }
}
`, c.addr, nginxPort)
}
