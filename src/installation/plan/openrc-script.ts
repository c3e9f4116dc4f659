/** The service script of a role for OpenRC (openrc-run(8), supervise-daemon(8)), from version 0.45 on. */
import { type Role, runsPods } from './role.ts';

export const scriptPath = '/etc/init.d/minik8s';
/** Link by which OpenRC starts the service at every boot. */
export const runlevelLink = '/etc/runlevels/default/minik8s';
/** Settings of the administrator, which the script reads. */
export const scriptSettingsPath = '/etc/conf.d/minik8s';

export const logDirectory = '/var/log/minik8s';
/** Log of the process, which rotates it, unless the settings name another file. */
export const serviceLogPath = `${logDirectory}/minik8s.log`;
/** Standard output and error of the process since the last start: errors before its log is open. */
export const outputPath = `${logDirectory}/output.log`;
/** File with the status line of the process, from its readiness on. */
export const readyPath = '/run/minik8s.ready';

export interface ScriptRequest {
  readonly role: Role;
  readonly executable: string;
  /** Timeout of a stop in seconds. */
  readonly stopSeconds: number;
  /** True if the settings name a log file. */
  readonly hasLogFile: boolean;
}

/**
 * Returns the text of the script.
 *
 * - supervise-daemon starts a process that has ended again, after two seconds and without a limit. A process
 *   whose settings are rejected waits for their correction before it ends (main.ts). A stop ends that process
 *   alone, so a restart leaves the pods running.
 * - `want`, not `need`, docker: a restart of Docker must not stop the control plane. A machine may have no
 *   service named net.
 * - A boot waits for readiness, but not forever: a node may wait for its master, and OpenRC starts the login
 *   after it.
 * - supervise-daemon has one signal. It is SIGTERM, after which new connections wait for the next process; a
 *   stop that is no restart ends their wait.
 * - A limit that this machine does not allow is a warning of OpenRC. dash sets one limit at a time.
 */
export function openrcScript({ role, executable, stopSeconds, hasLogFile }: ScriptRequest): string {
  const [wanted, docker] = runsPods(role) ? ['  want docker\n', ' docker'] : ['', ''];
  const log = hasLogFile ? '' : ` --log-file ${serviceLogPath}`;
  return `#!/sbin/openrc-run
# Written by minik8s install, removed by minik8s uninstall. Own settings: ${scriptSettingsPath}
description="minik8s ${role}"
supervisor=supervise-daemon
command=${executable}
command_args="${role}${log}"
respawn_delay=2
respawn_max=0
retry="SIGTERM/${stopSeconds}/SIGKILL/5"
output_log=${outputPath}
error_log=${outputPath}
rc_ulimit="\${rc_ulimit:--n 1048576}"
supervise_daemon_args="--oom-score-adj -500 --env SERVICE_READY_FILE=${readyPath}"
# Seconds that a start waits until minik8s is ready; it goes on starting after them.
: "\${ready_timeout:=60}"

depend() {
${wanted}  use net
  after${docker} net firewall
}

start_pre() {
  mkdir -p ${logDirectory}
  : >${outputPath}
  rm -f ${readyPath}
}

start_post() {
  tenths=$((ready_timeout * 10))
  until [ -e ${readyPath} ]; do
    if grep '^error: ' ${outputPath}; then
      ewarn "minik8s did not start; it is tried again, with wrong settings once /etc/minik8s changes"
      return 0
    fi
    if [ "$tenths" -le 0 ]; then
      ewarn "minik8s is not ready yet; minik8s status shows why"
      return 0
    fi
    tenths=$((tenths - 1))
    sleep 0.1
  done
}

stop_post() {
  rm -f ${readyPath}
  [ "$RC_CMD" = restart ] || nft delete table ip minik8s-restart 2>/dev/null
  return 0
}
`;
}
