/** The systemd unit of a role (systemd.service(5), systemd.exec(5), systemd.kill(5)). */
import { type Role, runsPods } from './role.ts';

export const unitName = 'minik8s.service';

/** Directory of the settings that `systemctl edit` adds. They belong to the administrator. */
export const dropInDirectory = `/etc/systemd/system/${unitName}.d`;

/** Signals on which the process refuses new connections at once, or lets them wait for its successor. */
const stopSignal = 'SIGINT';
export const restartSignal = 'SIGTERM';

/** Minimum timeout of a stop in seconds. */
const minStopSeconds = 90;

/** Seconds of a stop beside those that the pods get. */
const extraStopSeconds = 30;

/** Returns the timeout of a stop in seconds. `graceMs` is the time of the pods to stop at a shutdown. */
export const stopSecondsFor = (graceMs: number): number =>
  Math.max(minStopSeconds, Math.ceil(graceMs / 1000) + extraStopSeconds);

/**
 * Returns the text of the unit.
 *
 * - Pods are containers of Docker, and the etcd of a killed master is taken over by the next start. So only
 *   the main process is stopped (KillMode=process), and a restart of the unit leaves the pods running.
 * - `Wants`, not `Requires`, docker.service: a restart of Docker must not stop the control plane.
 * - The role exits with 2 for settings that it does not accept: a restart would not change that.
 * - A master may wait for etcd, and a node for its master, as long as it takes: the start has no time limit.
 * - SIGTERM, which only a restart sends, lets new connections wait for the next process. After SIGINT they
 *   are refused at once. systemd before version 244 ignores RestartKillSignal: a restart refuses them too.
 * - Pods get their time to stop when the machine shuts down: `stopSeconds` is longer.
 */
export function systemdUnit(role: Role, executable: string, stopSeconds: number): string {
  const docker = runsPods(role) ? ' docker.service' : '';
  return `# Written by minik8s install, removed by minik8s uninstall. Own settings: systemctl edit ${unitName}
[Unit]
Description=minik8s ${role}
Documentation=file:${executable}
Wants=network-online.target${docker}
After=network-online.target${docker} firewalld.service
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=all
ExecStart=${executable} ${role}
Restart=always
RestartSec=2
RestartPreventExitStatus=2
TimeoutStartSec=infinity
TimeoutStopSec=${stopSeconds}
WatchdogSec=120
KillMode=process
KillSignal=${stopSignal}
RestartKillSignal=${restartSignal}
Delegate=yes
LimitNOFILE=1048576
LimitNPROC=infinity
TasksMax=infinity
OOMScoreAdjust=-500

[Install]
WantedBy=multi-user.target
`;
}
