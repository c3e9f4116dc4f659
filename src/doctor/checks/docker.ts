/** Checks of the Docker engine and its settings. Pure. */

import { quoted } from '../../base/shell-words.ts';
import { isAtLeast, oldestApi } from '../../docker/api-version.ts';
import { installCommands, packagesFor } from '../../installation/plan/packages.ts';
import { type Check, fault, note, type Observation, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface EngineFacts {
  readonly version: string;
  readonly apiVersion: string;
  readonly cgroupDriver: string;
  readonly cgroupVersion: string;
  readonly isLiveRestore: boolean;
  readonly logDriver: string;
  readonly storageDriver: string;
  /** Options such as `name=userns`. */
  readonly securityOptions: readonly string[];
  /** Program by which the engine writes its rules: iptables, or nftables since Docker 29. */
  readonly firewallBackend: string;
}

export interface DockerFacts {
  /** The engine, or the reason why it does not answer. */
  readonly engine: EngineFacts | { readonly problem: string };
  readonly isInstalled: boolean;
  readonly hasSystemd: boolean;
  /** Text of /etc/docker/daemon.json; empty if there is none. */
  readonly daemonJson: string;
  /** True if the kernel has chains of Docker, or rules of the older iptables, which are not examined. */
  readonly hasFirewallRules: boolean;
}

/** Builds a check that examines an engine which answers. */
const ofEngine = (
  name: string,
  find: (engine: EngineFacts, facts: DockerFacts) => readonly Observation[],
): Check<DockerFacts, Situation> => ({
  name,
  find: (facts) => ('problem' in facts.engine ? [] : find(facts.engine, facts)),
});

export const dockerChecks: readonly Check<DockerFacts, Situation>[] = [
  {
    name: 'docker-answers',
    find({ engine, isInstalled, hasSystemd }, situation) {
      if (!('problem' in engine)) return [];
      const found = `no Docker engine answers at ${situation.dockerSocket}: ${engine.problem}`;
      const start = hasSystemd ? 'systemctl start docker' : startAlone;
      const mend = isInstalled ? start : installing(situation, hasSystemd);
      return [fault(found, 'the node runs no pods', mend)];
    },
  },
  ofEngine('docker-version', ({ version, apiVersion }) => {
    const found = `Docker ${version} (API ${apiVersion})`;
    if (isAtLeast(apiVersion, oldestApi)) return [ok(found)];
    return [
      fault(
        `${found}, older than API ${oldestApi} of Docker 20.10`,
        'the node agent refuses it',
        'curl -fsSL https://get.docker.com | sh',
      ),
    ];
  }),
  ofEngine('docker-cgroup-driver', ({ cgroupDriver, cgroupVersion }, facts) => {
    const found = `cgroup driver ${cgroupDriver}`;
    if (cgroupVersion !== '2' || !facts.hasSystemd || cgroupDriver === 'systemd') return [ok(found)];
    const options = { 'exec-opts': ['native.cgroupdriver=systemd'] };
    return [
      warning(
        `${found} beside systemd on cgroup v2`,
        'two programs then manage one tree of control groups',
        changing(facts, options, 'restart'),
      ),
    ];
  }),
  ofEngine('docker-live-restore', ({ isLiveRestore }, facts) =>
    isLiveRestore
      ? [ok('live-restore is on')]
      : [
          note(
            'live-restore is off',
            'a restart of the engine ends all containers',
            changing(facts, { 'live-restore': true }, 'reload'),
          ),
        ],
  ),
  ofEngine('docker-log-driver', ({ logDriver }) => [ok(`log driver ${logDriver}; pods have json-file`)]),
  ofEngine('docker-storage-driver', ({ storageDriver }, facts) => {
    const found = `storage driver ${storageDriver}`;
    if (storageDriver !== 'vfs') return [ok(found)];
    return [
      warning(
        found,
        'it copies a whole image for each container',
        changing(facts, { 'storage-driver': 'overlay2' }, 'restart'),
      ),
    ];
  }),
  ofEngine('docker-iptables', ({ firewallBackend }, facts) => {
    const { iptables } = settingsIn(facts.daemonJson) ?? {};
    if (iptables !== false && facts.hasFirewallRules)
      return [ok(`Docker sets up its firewall rules by ${firewallBackend}`)];
    if (iptables !== false)
      return [
        warning(
          'another program deleted the firewall rules of Docker',
          "containers on Docker's own network, such as builds of functions, have no published ports and do not reach the internet",
          engineCommand('restart', facts.hasSystemd),
        ),
      ];
    return [
      note(
        'Docker sets up no firewall rules ("iptables": false)',
        "builds of functions run on Docker's own network and do not reach the internet",
        changing(facts, { iptables: true }, 'restart'),
      ),
    ];
  }),
  ofEngine('docker-user-namespaces', ({ securityOptions }, facts) => {
    const has = (name: string) => securityOptions.some((option) => option.split(',')[0] === `name=${name}`);
    if (has('rootless'))
      return [
        fault(
          'the engine runs without root',
          'it cannot give pods addresses of the cluster',
          starting(facts.hasSystemd),
        ),
      ];
    if (!has('userns')) return [ok('no user namespaces')];
    return [
      fault(
        'the engine maps users of containers (userns-remap)',
        "files of volumes and the host's network are not accessible to such containers",
        changing(facts, { 'userns-remap': '' }, 'restart'),
      ),
    ];
  }),
  {
    name: 'docker-daemon-json',
    find: ({ daemonJson, hasSystemd }) =>
      settingsIn(daemonJson)
        ? []
        : [
            fault(
              '/etc/docker/daemon.json is not JSON',
              'the engine does not start with it',
              `mv /etc/docker/daemon.json /etc/docker/daemon.json.broken && ${engineCommand('restart', hasSystemd)}`,
            ),
          ],
  },
];

function settingsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the command that adds options to daemon.json; undefined if the file is damaged. */
function changing(
  { daemonJson, hasSystemd }: DockerFacts,
  options: object,
  how: 'restart' | 'reload',
): string | undefined {
  const settings = settingsIn(daemonJson);
  if (!settings) return undefined;
  const json = JSON.stringify({ ...settings, ...options });
  return `printf '%s\\n' ${quoted(json)} >/etc/docker/daemon.json && ${engineCommand(how, hasSystemd)}`;
}

/** Starts the engine on a machine without systemd. */
const startAlone = '(setsid dockerd >/var/log/dockerd.log 2>&1 &)';

/** Returns the command that restarts the engine, or makes it read daemon.json again. */
function engineCommand(how: 'restart' | 'reload', hasSystemd: boolean): string {
  if (hasSystemd) return `systemctl ${how} docker`;
  if (how === 'reload') return 'pkill -HUP -x dockerd';
  // The engine may not run, since it does not start with a damaged daemon.json.
  return `{ pkill -x dockerd; while pgrep -x dockerd >/dev/null; do sleep 1; done; ${startAlone}; }`;
}

/** Returns the command that starts the engine, with systemd also at each boot. */
const starting = (hasSystemd: boolean) => (hasSystemd ? 'systemctl enable --now docker' : startAlone);

function installing({ packageManager = 'apt' }: Situation, hasSystemd: boolean): string {
  const commands = installCommands[packageManager](packagesFor(packageManager, [], true));
  return [...commands.map((command) => command.join(' ')), starting(hasSystemd)].join(' && ');
}
