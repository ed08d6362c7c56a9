package workload

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	sqldriver "github.com/go-sql-driver/mysql"
)

const (
	// mostSessions is how many connections MariaDB takes. Debian's default is
	// 151.
	mostSessions = 1024
	// mariadbReady is how long MariaDB may take to answer. Alone it takes half a
	// second.
	mariadbReady = 30 * time.Second
	// mariadbTry is how long one look may take at whether it does: what else
	// holds its port may never answer.
	mariadbTry = time.Second
	// systemTables is where packages of MariaDB keep the SQL that makes a new
	// server's accounts and grants.
	systemTables = "/usr/share/m*/m*_system_tables.sql"
)

// mariadb is Debian's MariaDB with one table.
func mariadb() Server {
	program := Program{Name: "mariadbd", Get: "apt-get install mariadb-server", Version: []string{"--version"}}
	return Server{
		Name: "mariadb", Program: program, Port: 5213, SpeaksFirst: true,
		Start: func(ctx context.Context, p Place) (*Child, error) {
			path, err := program.Find()
			if err != nil {
				return nil, fmt.Errorf("find %s: %w: %s", program.Name, err, program.Get)
			}
			if err := configure(p); err != nil {
				return nil, fmt.Errorf("configure %s: %w", program.Name, err)
			}
			return startConfigured(ctx, path, p)
		},
	}
}

// startConfigured starts MariaDB in a folder that is ready for it. Where that
// fails, the first error that it logged is the cause of those after it.
func startConfigured(ctx context.Context, path string, p Place) (*Child, error) {
	fault := ""
	eachLine := func(line string) {
		if fault == "" && strings.Contains(line, "ERROR") {
			fault = line
		}
	}
	c, err := startChild(p.Dir, eachLine, path, "--defaults-file="+filepath.Join(p.Dir, "my.cnf"))
	if err != nil {
		return nil, err
	}
	err = c.await(ctx, mariadbReady, func() error {
		_, err := countRows(ctx, p.At)
		if answer := new(sqldriver.MySQLError); errors.As(err, &answer) { // its first SQL is done
			return nil
		}
		return err
	})
	if err == nil {
		rows, errRows := countRows(ctx, p.At)
		if errRows == nil && rows == pointRows {
			return c, nil
		}
		err = errors.Join(fmt.Errorf("its table has %d rows, not %d", rows, pointRows), errRows, c.Stop())
	}
	if fault != "" {
		err = fmt.Errorf("%w: first it logged: %s", err, fault)
	}
	return c, err
}

// configure writes the settings and what the server does first, and makes the
// folder of its data.
func configure(p Place) error {
	found, err := filepath.Glob(systemTables)
	if err != nil || len(found) == 0 {
		return errors.Join(fmt.Errorf("no %s: is mariadb-server's package whole?", systemTables), err)
	}
	system, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	first := "CREATE DATABASE mysql;\nUSE mysql;\n" + string(system) + accountSQL + tableSQL()
	return errors.Join(
		os.Mkdir(filepath.Join(p.Dir, "data"), 0o700),
		os.WriteFile(filepath.Join(p.Dir, "first.sql"), []byte(first), 0o600),
		os.WriteFile(filepath.Join(p.Dir, "my.cnf"), []byte(mariadbSettings(p)), 0o600),
	)
}

// mariadbSettings are Debian's defaults but for what a lab asks for. A new
// server has no accounts: it skips the grants until its first SQL has made
// them, before it takes a connection. The user is root, since it is the only
// one in an ordinary user's lab. The files and caches that selects do not need
// are small, and asynchronous reads are off, of which a machine has a bounded
// number.
func mariadbSettings(p Place) string {
	return fmt.Sprintf(`[mariadbd]
user = root
bind-address = %[1]s
port = %[2]d
datadir = %[3]s/data
tmpdir = %[3]s
socket = %[3]s/socket
pid-file = %[3]s/pid
init-file = %[3]s/first.sql
skip-grant-tables
skip-name-resolve
character-set-server = utf8mb4
collation-server = utf8mb4_general_ci
max-connections = %[4]d
innodb-use-native-aio = OFF
innodb-log-file-size = 4M
innodb-log-buffer-size = 2M
innodb-temp-data-file-path = ibtmp1:4M:autoextend
innodb-buffer-pool-dump-at-shutdown = OFF
aria-pagecache-buffer-size = 8M
key-buffer-size = 1M
`, p.At.Addr(), p.At.Port(), p.Dir, mostSessions)
}

// accountSQL puts the grants in force and makes the account.
const accountSQL = `
FLUSH PRIVILEGES;
CREATE USER ` + accountUser + ` IDENTIFIED BY '` + accountPassword + `';
GRANT SELECT ON ` + accountDatabase + `.* TO ` + accountUser + `;
`

// tableSQL makes the table that sysbench's prepare makes. Its columns c and pad
// hold groups of eleven digits.
func tableSQL() string {
	digits := func(groups int) string {
		return "CONCAT_WS('-'" + strings.Repeat(", LPAD(FLOOR(RAND() * 1e11), 11, '0')", groups) + ")"
	}
	return fmt.Sprintf(`
CREATE DATABASE %[1]s;
USE %[1]s;
CREATE TABLE sbtest1 (
  id INTEGER NOT NULL AUTO_INCREMENT,
  k INTEGER DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB;
INSERT INTO sbtest1 (k, c, pad) SELECT 1 + FLOOR(RAND() * %[2]d), %[3]s, %[4]s FROM seq_1_to_%[2]d;
CREATE INDEX k_1 ON sbtest1 (k);
`, accountDatabase, pointRows, digits(10), digits(5))
}

// countRows counts the rows of the table, as the account and no longer as
// everybody: those would be none.
func countRows(ctx context.Context, at netip.AddrPort) (rows int, err error) {
	connector, err := sqldriver.NewConnector(accountConfig(at))
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, mariadbTry)
	defer cancel()
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sbtest1 WHERE CURRENT_USER() LIKE '"+accountUser+"@%'").Scan(&rows)
	return rows, err
}
