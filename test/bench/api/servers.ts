/**
 * Runs both servers, each with its etcd, and creates a client certificate for each of a user whose role
 * allows everything.
 */
import { systemClock } from '../../../src/base/clock.ts';
import { issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { processesNaming, programOf } from '../../e2e/harness/processes.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { Lane, requestBytes, type Target } from '../lane.ts';
import { withMaster } from '../master.ts';
import { type KubeApiserver, withKubeApiserver } from './kube-apiserver.ts';
import { namespaces } from './objects.ts';

export interface Server {
  readonly name: 'minik8s' | 'kube-apiserver';
  readonly pid: number;
  readonly etcdPid: number;
  readonly target: Target;
}

export function withServers<T>(program: string, measure: (servers: readonly Server[]) => Promise<T>) {
  return withKubeApiserver(program, (kube) =>
    withOurServer(async (ours) => {
      const { port, authority, pid, etcdPid } = kube;
      await prepare(await clientOf(port, authority, administrators), kube);
      const target = await clientOf(port, authority, benchers);
      return measure([ours, { name: 'kube-apiserver', pid, etcdPid, target }]);
    }),
  );
}

/** Runs minik8s alone. */
export function withOurServer<T>(measure: (server: Server) => Promise<T>): Promise<T> {
  return withMaster(['--bind-address=127.0.0.1'], async ({ authority, dataDir, process, server }) => {
    const port = Number(new URL(server).port);
    const etcdPid = processesNaming(dataDir).find((pid) => programOf(pid)?.includes('etcd'));
    if (etcdPid === undefined) throw new Error('the etcd of minik8s was not found');
    await prepare(await clientOf(port, authority, administrators));
    const target = await clientOf(port, authority, benchers);
    return measure({ name: 'minik8s', pid: process.pid ?? 0, etcdPid, target });
  });
}

export const administrators = 'system:masters';
/** Group of the user. Administrators skip the rules; requests of this group are authorized one by one. */
const benchers = 'benchers';

const binding = JSON.stringify({
  metadata: { name: benchers },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: benchers }],
});

export async function clientOf(port: number, authority: KeyAndCertificate, group: string): Promise<Target> {
  const { key, certificate: cert } = await issueCertificate(authority, {
    commonName: 'bench',
    organizations: [group],
    usages: ['client'],
    notBefore: systemClock.now() - 60_000,
    notAfter: systemClock.now() + 24 * 3_600_000,
  });
  return { port, ca: authority.certificate, key, cert };
}

/**
 * Waits until the server is ready; then creates the role's binding, and for pods the objects that a
 * controller would create.
 */
async function prepare(target: Target, kube?: KubeApiserver): Promise<void> {
  const ask = async (request: Buffer) => {
    const lane = new Lane(target);
    try {
      return await lane.ask(request);
    } finally {
      lane.close();
    }
  };
  const ready = async () => {
    const failure = kube?.failure();
    if (failure) throw new Error(failure);
    return ask(requestBytes('GET', '/readyz')).then(
      () => true,
      () => false,
    );
  };
  await waitFor('the API server', ready, { timeoutMs: 120_000 });
  await ask(requestBytes('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding));
  for (const name of namespaces) {
    await ask(requestBytes('POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name } })));
    const path = `/api/v1/namespaces/${name}/serviceaccounts`;
    const account = JSON.stringify({ metadata: { name: 'default' } });
    await ask(requestBytes('POST', path, account)).catch((error: Error) => {
      if (!error.message.includes(' 409 ')) throw error;
    });
  }
}
