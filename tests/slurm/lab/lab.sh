#!/usr/bin/env bash
# A real SLURM with one node on the loopback interface, without systemd: munge, MariaDB, slurmdbd, slurmctld, slurmd, and fake GPUs.
#
#   SLURM_LAB=<where everything lives> lab.sh up | down
#
# Needs root, and Debian's slurm-wlm, slurmdbd, mariadb-server and munge. run/*.pid has the pid of each daemon.
set -euo pipefail
LAB=$SLURM_LAB
HERE=$(cd "$(dirname "$0")" && pwd)
# The executor's job step drops every SLURM_* variable, SLURM_CONF too: the configuration must be found at its usual place.
PLACE=/etc/slurm
CONFIGURATION="slurm.conf gres.conf cgroup.conf"
export SLURM_CONF=$LAB/etc/slurm.conf

wait_for() { # wait_for SECONDS WHAT COMMAND...
    local tries=$(($1 * 5)) what=$2
    shift 2
    for _ in $(seq $tries); do
        timeout 10 "$@" >/dev/null 2>&1 && return 0
        sleep 0.2
    done
    echo "waited in vain for $what; its log is in $LAB/log" >&2
    return 1
}

start() { # start NAME ARGUMENTS...: a daemon in the foreground, in a session of its own
    setsid nohup "$@" >>"$LAB/log/$1.out" 2>&1 </dev/null &
    echo $! >"$LAB/run/$1.pid"
}

up() {
    for file in $CONFIGURATION; do
        if [ -e "$PLACE/$file" ]; then
            echo "$PLACE/$file is there already: this machine has a SLURM, or another lab is up" >&2
            exit 3
        fi
    done
    mkdir -p "$LAB"/{etc,log,run,state,spool,gpu,munge,mysql} "$PLACE"
    chmod 755 "$LAB" "$LAB"/{etc,log,run}
    chmod 711 "$LAB/munge"
    munge_up
    database_up
    configure
    start slurmdbd -D
    wait_for 30 slurmdbd sacctmgr -n list cluster
    sacctmgr -i add cluster lab >/dev/null 2>&1 || true
    sacctmgr -i add account lab cluster=lab >/dev/null 2>&1 || true
    sacctmgr -i add user root account=lab cluster=lab >/dev/null 2>&1 || true
    start slurmctld -D -i
    wait_for 30 slurmctld scontrol ping
    start slurmd -D
    wait_for 30 "an idle node" sh -c "sinfo -h -N -o %T | grep -qx idle"
}

munge_up() {
    (umask 077 && head -c 1024 /dev/urandom >"$LAB/munge/munge.key")
    # --force: munged refuses a socket below a directory that everybody can write to, such as /tmp.
    start munged --foreground --force --key-file="$LAB/munge/munge.key" --socket="$LAB/munge/munge.socket" \
        --pid-file="$LAB/munge/munged.pid" --log-file="$LAB/log/munged.log" --seed-file="$LAB/munge/munge.seed"
    wait_for 10 munged munge -n --socket="$LAB/munge/munge.socket"
}

database_up() {
    local socket=$LAB/mysql/mysql.sock
    chown mysql "$LAB/mysql"
    mariadb-install-db --no-defaults --datadir="$LAB/mysql" --user=mysql --skip-test-db \
        --auth-root-authentication-method=normal >"$LAB/log/mariadb-install.out" 2>&1 ||
        { cat "$LAB/log/mariadb-install.out" >&2 && return 1; }
    start mariadbd --no-defaults --user=mysql --datadir="$LAB/mysql" --bind-address=127.0.0.1 --port=16820 \
        --socket="$socket" --pid-file="$LAB/mysql/mariadbd.pid" --innodb-buffer-pool-size=64M \
        --innodb-log-file-size=16M --innodb-lock-wait-timeout=900 --skip-log-bin
    wait_for 30 mariadbd mariadb-admin --no-defaults -uroot -S "$socket" ping
    mariadb --no-defaults -uroot -S "$socket" <<SQL
CREATE DATABASE slurm_acct_db;
CREATE USER 'slurm'@'127.0.0.1' IDENTIFIED BY 'slurm';
CREATE USER 'slurm'@'localhost' IDENTIFIED BY 'slurm';
GRANT ALL ON slurm_acct_db.* TO 'slurm'@'127.0.0.1';
GRANT ALL ON slurm_acct_db.* TO 'slurm'@'localhost';
SQL
}

configure() {
    for gpu in 0 1; do # slurmd wants device nodes, and counts plain files without handing them out
        mknod -m 666 "$LAB/gpu/nvidia$gpu" c 195 "$gpu"
    done
    for file in $CONFIGURATION slurmdbd.conf; do
        sed -e "s|@LAB@|$LAB|g; s|@HOST@|$(hostname -s)|g" "$HERE/$file.in" >"$LAB/etc/$file"
    done
    chmod 600 "$LAB/etc/slurmdbd.conf"
    for file in $CONFIGURATION; do ln -sfn "$LAB/etc/$file" "$PLACE/$file"; done
}

is_ours() { # is_ours NAME PID: the process is still the daemon that was started, not another under its number
    [ "$(cat "/proc/$2/comm" 2>/dev/null)" = "$1" ]
}

down() {
    if is_ours slurmctld "$(cat "$LAB/run/slurmctld.pid" 2>/dev/null || echo 0)"; then # jobs do not end with their daemon
        squeue -h -o %A | xargs -r scancel || true
        wait_for 20 "the end of the jobs" sh -c '[ -z "$(squeue -h)" ]' || true
    fi
    for name in slurmd slurmctld slurmdbd mariadbd munged; do
        [ -s "$LAB/run/$name.pid" ] || continue
        pid=$(cat "$LAB/run/$name.pid")
        if is_ours "$name" "$pid"; then
            kill "$pid" || true
            for _ in $(seq 100); do is_ours "$name" "$pid" && sleep 0.1 || break; done
            is_ours "$name" "$pid" && kill -9 "$pid"
        fi
        rm -f "$LAB/run/$name.pid"
    done
    for file in $CONFIGURATION; do
        if [ "$(readlink "$PLACE/$file")" = "$LAB/etc/$file" ]; then rm -f "$PLACE/$file"; fi
    done
    # Without cgroups SLURM loses sight of a job's process whose parent has ended, and leaves it behind.
    for process in /proc/[0-9]*; do
        environment=$(tr '\0' '\n' 2>/dev/null <"$process/environ" || true)
        if grep -qx "SLURM_CONF=$LAB/etc/slurm.conf" <<<"$environment" && grep -q "^SLURM_JOB_ID=" <<<"$environment"; then
            kill -9 "${process#/proc/}" 2>/dev/null || true
        fi
    done
}

"$1"
