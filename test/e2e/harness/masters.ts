/** Masters that share an etcd, and functions that read their state for tests. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { KubeConfig, V1EndpointSliceList } from '@kubernetes/client-node';
import { clientNode, readKubeConfig } from './client-node.ts';
import { EtcdCluster } from './etcd-cluster.ts';
import { Host } from './host.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
import { Role } from './role.ts';
import { waitFor } from './wait-for.ts';

/** Message that a master prints when it is ready. */
export const ready = /^minik8s is ready: https:/m;

export class Master {
  readonly port: number;
  readonly dataDir: string;
  readonly role: Role;
  readonly kubectl: Kubectl;
  readonly #kubeconfig: string;

  constructor(host: Host, name: string, port: number, flags: readonly string[]) {
    this.port = port;
    this.dataDir = join(host.directory, name);
    const place = ['--data-dir', this.dataDir, `--port=${port}`, `--bind-address=${host.address}`];
    this.role = new Role(host, ['master', ...place, ...flags]);
    this.#kubeconfig = join(this.dataDir, 'admin.conf');
    this.kubectl = kubectlFor(this.#kubeconfig);
  }

  config(): KubeConfig {
    return readKubeConfig(this.#kubeconfig);
  }

  /** The endpoint as the Service kubernetes lists it: `ADDRESS:PORT`. */
  get endpoint(): string {
    return `${this.role.host.address}:${this.port}`;
  }

  /** The identity with which this master last became the leader. */
  get identity(): string | undefined {
    return [...this.role.log.matchAll(/became the leader.*?identity[=:]\s*"?([^\s",}]+)/g)].at(-1)?.[1];
  }
}

export interface Scene {
  readonly host: Host;
  readonly etcd: EtcdCluster;
  readonly masters: readonly [Master, Master];
}

/** Two masters on one host, with an etcd of three members; the masters are not started. */
export async function prepareMasters(context: TestContext): Promise<Scene> {
  const host = await Host.start(context, { docker: false });
  const etcd = EtcdCluster.on(host);
  await etcd.start();
  const master = (name: string, port: number) => new Master(host, name, port, [etcd.flag]);
  return { host, etcd, masters: [master('a', 6443), master('b', 7443)] };
}

/** Returns the holder of the controllers' lease, read from this master. */
export async function holderAt(master: Master): Promise<string | undefined> {
  const api = master.config().makeApiClient(clientNode().CoordinationV1Api);
  const lease = await api.readNamespacedLease({ name: 'minik8s-controllers', namespace: 'kube-system' });
  return lease.spec?.holderIdentity;
}

/** Resolves to the leader, and the other master. */
export async function leaderOf(scene: Scene): Promise<readonly [Master, Master]> {
  return waitFor('a leader', async () => {
    const [a, b] = scene.masters;
    const identity = await holderAt(a.role.running ? a : b);
    if (!identity) return undefined;
    if (a.identity === identity) return [a, b] as const;
    return b.identity === identity ? ([b, a] as const) : undefined;
  });
}

/** Returns `ADDRESS:PORT` of the masters in the Service kubernetes, sorted. */
export async function endpoints({ kubectl }: Master): Promise<string[]> {
  const of = ['-n', 'default', '-l', 'kubernetes.io/service-name=kubernetes'];
  const { items } = await kubectl.json<V1EndpointSliceList>('get', 'endpointslices', ...of);
  const all = items.flatMap(({ endpoints, ports }) =>
    (endpoints ?? []).map(({ addresses }) => `${addresses[0]}:${ports?.[0]?.port}`),
  );
  return all.sort();
}

/**
 * Returns the number of pods of a deployment, including terminating ones: there is no node that would end
 * them.
 */
export async function podsOf(master: Master, app: string): Promise<number> {
  const names = await master.kubectl('get', 'pods', '-l', `app=${app}`, '-o', 'name');
  return names.trim() === '' ? 0 : names.trim().split('\n').length;
}
