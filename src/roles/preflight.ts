/**
 * Conditions that must hold before anything is started. Each fails with one line that includes the remedy.
 */

import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { sameAddress } from '../base/addresses.ts';
import { errorMessage } from '../base/log.ts';
import { UsageError } from '../base/usage-error.ts';
import { tryFeature } from '../installation/kernel-trial.ts';
import { type KernelFeature, kernelFeatures, type Lack } from '../installation/plan/kernel-features.ts';
import { requireApi } from '../kubelet/node/engine-connection.ts';
import { readNodeFacts } from '../kubelet/node/node-facts.ts';
import { allocatableOf, capacityOf, type ReservedResources } from '../kubelet/node/plan/node-status.ts';
import { type ClusterRange, type MachineAddresses, overlap } from '../network/address-overlap.ts';
import { type Exec, ExecError } from '../os/exec.ts';
import { portProblem } from '../os/port-problem.ts';
import type { Settings } from './settings/setting-table.ts';

/** Rejects if the port is in use or may not be listened on. */
export async function requireFreePort(address: string, port: number, flag: string): Promise<void> {
  const why = await portProblem('TCP', address, port);
  if (why) throw new Error(`port ${port} of ${address} ${why}; free it or give another --${flag}`);
}

interface WantedPort {
  readonly protocol: string;
  /** An empty string means every address. */
  readonly hostIP: string;
  readonly hostPort: number;
}

/** Rejects if a pod cannot have a port of this machine. */
export async function requireFreeHostPort({ protocol, hostIP, hostPort }: WantedPort): Promise<void> {
  const why = await portProblem(protocol, hostIP || '0.0.0.0', hostPort);
  if (why) {
    const port = `hostPort ${hostPort}/${protocol}`;
    throw new Error(`${port} ${why} on this node; free it or give the pod another hostPort`);
  }
}

/** Rejects if no Docker engine answers at the socket, or if the engine is too old. */
export async function requireDocker(socketPath: string): Promise<void> {
  const advice = 'start it (systemctl start docker, or dockerd), or give its --docker-socket';
  let answer: Answer;
  try {
    answer = await get(socketPath, '/version');
  } catch (error) {
    throw new Error(`no Docker engine answers at ${socketPath} (${errorMessage(error)}); ${advice}`);
  }
  if (answer.status !== 200) {
    throw new Error(`the Docker engine at ${socketPath} answers with ${answer.status}; ${advice}`);
  }
  const { Version, ApiVersion } = readVersion(answer.body);
  if (Version === undefined || ApiVersion === undefined) {
    throw new Error(
      `the server at ${socketPath} is not a Docker engine; give the socket of one with --docker-socket`,
    );
  }
  requireApi(Version, ApiVersion);
}

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

function get(socketPath: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, timeout: 5_000 }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    });
    call.once('timeout', () => call.destroy(new Error('no answer within 5 s')));
    call.once('error', reject);
    call.end();
  });
}

function readVersion(body: string): { readonly Version?: string; readonly ApiVersion?: string } {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/**
 * Throws if this process does not run as root, which network namespaces, links and firewall rules require.
 */
export function requireRoot(): void {
  if (process.getuid?.() !== 0)
    throw new Error('minik8s sets up links and firewall rules: run it as root (sudo)');
}

/** Rejects if the reserved resources exceed those of the machine. `dataDir` must exist. */
export async function requireReserved(
  dataDir: string,
  maxPods: number,
  reserved: ReservedResources | undefined,
): Promise<void> {
  allocatableOf(capacityOf({ facts: await readNodeFacts(dataDir, ''), maxPods }), reserved);
}

/** Programs that the node runs, with their Debian packages, which a minimal system lacks. */
const programs = {
  ip: 'iproute2',
  mount: 'mount',
  umount: 'mount',
} as const;

/** Rejects if the machine lacks a program that the node runs. */
export async function requirePrograms(exec: Exec): Promise<void> {
  const tries = Object.entries(programs).map(async ([program, packageName]) => {
    try {
      await exec(program, ['-V']);
    } catch (error) {
      // A variant of the program, such as busybox's, may lack the option: it then fails, but it exists.
      if (error instanceof ExecError && error.failure.code !== undefined) return;
      const lack = { cause: 'missing', reason: errorMessage(error) } as const;
      throw lacking(lack, { what: program, packageName, module: '' });
    }
  });
  await Promise.all(tries);
}

/** Rejects if the kernel or its tools lack a feature that the node's network requires. */
export async function requireKernelNetwork(exec: Exec, overlay: 'vxlan' | 'host-routes'): Promise<void> {
  const { nft, iptables, vxlan } = kernelFeatures;
  await requireFeature(exec, nft);
  await requireFeature(exec, iptables);
  if (overlay === 'vxlan') await requireFeature(exec, vxlan, ', or set overlay: host-routes on all nodes');
}

async function requireFeature(exec: Exec, feature: KernelFeature, otherwise = ''): Promise<void> {
  const lack = await tryFeature(exec, feature);
  if (lack) throw lacking(lack, feature, otherwise);
}

type Lacking = Pick<KernelFeature, 'what' | 'packageName' | 'module'>;

function lacking({ cause, reason }: Lack, { what, packageName, module }: Lacking, otherwise = ''): Error {
  const todo = {
    missing: `install it (apt-get install ${packageName})`,
    forbidden:
      'root needs the capabilities NET_ADMIN and SYS_ADMIN here: if this is a container, start it with --privileged',
    refused: `load its kernel module (modprobe ${module})${otherwise}`,
  }[cause];
  const how = cause === 'missing' ? 'is not there' : 'cannot be used';
  return new Error(`${what} ${how} on this machine (${reason}); ${todo}`);
}

/** Rejects if the address is not this machine's, because other machines could not reach the node there. */
export function requireOwnAddress(address: string, name: 'node-ip' | 'node-ipv6' = 'node-ip'): void {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  if (own.some((each) => sameAddress(each.address, address))) return;
  const wanted = name === 'node-ip' ? 'IPv4' : 'IPv6';
  const usable = own.filter(({ family, internal }) => family === wanted && !internal);
  const known = usable.map((each) => each.address).join(', ') || 'none';
  throw new Error(`${name} ${address} is not an address of this machine, which has ${known}`);
}

/** Throws if only one of the two ranges has an IPv6 range. */
function requireSameFamilies(settings: Settings<ClusterRange[0]>): void {
  const [pods, services] = [settings['cluster-cidr'], settings['service-cidr']];
  if (pods.includes(',') === services.includes(',')) return;
  throw new UsageError(
    `cluster-cidr ${pods} and service-cidr ${services}: only one of the two has a range of IPv6; give it to both, or to none`,
  );
}

/** Throws if the ranges of pods and Services overlap. */
export function requireDisjointRanges(ranges: readonly ClusterRange[]): void {
  const why = overlap({ routes: [], links: [] }, ranges);
  if (why) throw new UsageError(why);
}

/** Returns the ranges of a cluster from its settings. Throws if only one of the two has a range of IPv6. */
export function clusterRanges(settings: Settings<ClusterRange[0]>): readonly ClusterRange[] {
  requireSameFamilies(settings);
  return (['cluster-cidr', 'service-cidr'] as const).flatMap((name) =>
    settings[name].split(',').map((cidr) => [name, cidr] as const),
  );
}

/** Rejects if the kernel has no IPv6 at all. */
function requireIPv6(): void {
  if (existsSync('/proc/sys/net/ipv6/conf/all/forwarding')) return;
  throw new Error(
    'the kernel of this machine has no IPv6: start it without ipv6.disable=1, or give cluster-cidr and service-cidr only ranges of IPv4',
  );
}

/** Rejects if the machine already uses addresses of the ranges for pods or Services. */
export async function requireFreeRanges(exec: Exec, ranges: readonly ClusterRange[]): Promise<void> {
  if (ranges.some(([, cidr]) => cidr.includes(':'))) requireIPv6();
  for (const family of new Set(ranges.map(([, cidr]) => (cidr.includes(':') ? '-6' : '-4')))) {
    const [routes, links] = await Promise.all([
      exec('ip', ['-json', family, 'route', 'show', 'table', 'main']),
      exec('ip', ['-json', family, 'address', 'show']),
    ]);
    const machine: MachineAddresses = {
      routes: JSON.parse(routes.stdout || '[]'),
      links: JSON.parse(links.stdout || '[]'),
    };
    const why = overlap(machine, ranges);
    if (why) throw new Error(why);
  }
}
