/** A master with 10,000 running pods on 50 nodes that renew their Leases, and an administrator's token. */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { createHttpsTransport } from '../../../src/client/https-transport.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import type { BenchMaster } from '../master.ts';
import { typicalPod } from '../pod-shape.ts';

export const podCount = Number(process.env.BENCH_PODS ?? 10_000);
const nodeCount = 50;
const namespaceCount = 20;
/** Number of concurrent requests. */
const together = 24;
/** Number of pods of which one is not ready. */
const faulty = 500;
const renewMs = 8_000;

export interface ManyPods {
  /** A token with which the dashboard is opened. */
  readonly token: string;
  /** Ends the renewal of the Leases. */
  close(): void;
}

type Send = (
  method: 'GET' | 'PATCH' | 'POST',
  path: string,
  body?: unknown,
) => Promise<{ readonly status?: { token?: string } }>;

function sender(transport: Transport): Send {
  const send: Send = async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await transport.request({
      ...{ method, path, headers: { 'content-type': type } },
      ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    if (answer.status === 429) {
      // The server rejects requests because too many are in progress.
      await pause(250);
      return send(method, path, body);
    }
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  return send;
}

async function each(count: number, work: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: together }, lane));
}

export async function fillWithPods({ server, authority }: BenchMaster): Promise<ManyPods> {
  const { key, certificate: cert } = await issueCertificate(authority, {
    ...{ commonName: 'bench', organizations: ['system:masters'], usages: ['client'] },
    ...{ notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 },
  });
  const connection = { server, ca: authority.certificate, key, cert };
  const transport = createHttpsTransport({ ...connection, clock: systemClock });
  const send = sender(transport);
  await each(nodeCount, (number) => makeNode(send, `node-${number}`));
  const ended = new AbortController();
  void keepRenewing(send, ended.signal).catch(() => undefined);
  await each(namespaceCount, (number) => makeNamespace(send, `team-${number}`));
  await each(podCount, (number) => makePod(send, number));
  const token = await tokenOf(send);
  return {
    token,
    close() {
      ended.abort();
      transport.close();
    },
  };
}

async function makeNode(send: Send, name: string): Promise<void> {
  await send('POST', '/api/v1/nodes', { metadata: { name } });
  const amounts = { cpu: '64', memory: '256Gi', pods: '500' };
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
  const at = new Date().toISOString().replace(/\.\d+/, '');
  const conditions = [{ ...ready, lastHeartbeatTime: at, lastTransitionTime: at }];
  await send('PATCH', `/api/v1/nodes/${name}/status`, {
    status: { capacity: amounts, allocatable: amounts, conditions },
  });
  await send('POST', leases, { metadata: { name }, spec: leaseOf(name) });
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const leaseOf = (holder: string) => ({
  ...{ holderIdentity: holder, leaseDurationSeconds: 40 },
  renewTime: new Date().toISOString().replace('Z', '000Z'),
});

/** Renews the Leases until the signal aborts, which rejects. */
async function keepRenewing(send: Send, signal: AbortSignal): Promise<never> {
  for (;;) {
    await pause(renewMs, undefined, { signal });
    await each(nodeCount, (number) => renew(send, `node-${number}`));
  }
}

const renew = (send: Send, name: string) => send('PATCH', `${leases}/${name}`, { spec: leaseOf(name) });

/** Pods are refused until the namespace has its service account. */
async function makeNamespace(send: Send, name: string): Promise<void> {
  await send('POST', '/api/v1/namespaces', { metadata: { name } });
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await waitFor(`the service account of ${name}`, () =>
    send('GET', account).then(
      () => true,
      () => false,
    ),
  );
}

/** The pods have no owners, since those would not exist. */
async function makePod(send: Send, number: number): Promise<void> {
  const { metadata, spec, status } = typicalPod(number);
  const { name, namespace, labels } = metadata;
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await send('POST', pods, { metadata: { name, labels }, spec });
  const isFaulty = number % faulty === 0;
  const conditions = status.conditions.map((one) =>
    one.type === 'Ready' && isFaulty ? { ...one, status: 'False' } : one,
  );
  await send('PATCH', `${pods}/${name}/status`, { status: { ...status, conditions } });
}

async function tokenOf(send: Send): Promise<string> {
  const accounts = '/api/v1/namespaces/kube-system/serviceaccounts';
  await send('POST', accounts, { metadata: { name: 'viewer' } });
  await send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'bench-viewer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'viewer', namespace: 'kube-system' }],
  });
  const { status } = await send('POST', `${accounts}/viewer/token`, { spec: {} });
  if (!status?.token) throw new Error('the server returned no token');
  return status.token;
}
