/** Joining over the real HTTPS API server, with the controllers that approve and sign. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { certificateSigningRequestResource as requests } from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { rfc3339Micro } from '../../../src/base/time.ts';
import type { Client } from '../../../src/client/client.ts';
import { createHttpsTransport } from '../../../src/client/https-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { requestCertificate } from '../../../src/node-bootstrap/certificate-request.ts';
import { type JoinOptions, joinCluster, storedMembership } from '../../../src/node-bootstrap/join.ts';
import { clientOrder } from '../../../src/node-bootstrap/node-certificates.ts';
import { NodeFiles } from '../../../src/node-bootstrap/node-files.ts';
import { keepRenewed } from '../../../src/node-bootstrap/renewal.ts';
import { makeKey } from '../../../src/pki/new-request.ts';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { troubleText } from '../../fixtures/troubleshooting.ts';
import { never, type Rig, rejectsInOneLine, startRig } from './join-rig.ts';

const secret = '0123456789abcdef';

/** Creates a token with the given id and returns it; valid for an hour by default. */
async function makeToken({ cluster }: Rig, id: string, expiration = Date.now() + 3_600_000): Promise<string> {
  await cluster.client.resource(secretResource).create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      expiration: new Date(expiration).toISOString(),
      'usage-bootstrap-authentication': 'true',
    },
  });
  return `${id}.${secret}`;
}

let directory: string;
let waits = 0;
const warnings: string[] = [];

beforeEach(async (context) => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-join-'));
  waits = 0;
  warnings.length = 0;
  (context as { after(fn: () => Promise<void>): void }).after(() => rm(directory, { recursive: true }));
});

function options({ url, hash }: Rig, more: Partial<JoinOptions>): JoinOptions {
  return {
    servers: [url],
    token: undefined,
    hash,
    nodeName: 'a',
    files: new NodeFiles(join(directory, 'node')),
    connect: (ca, credentials) =>
      createHttpsTransport({ server: url, ca, ...credentials, clock: systemClock }),
    clock: systemClock,
    random: new SeededRandom(1),
    log: silentLogger,
    warn: (message) => warnings.push(message),
    onWaiting: () => waits++,
    ...more,
  };
}

/** Returns the requests of the holders of the token with that id. */
const requestsBy = async ({ cluster }: Rig, id: string) =>
  (await cluster.list(requests)).filter(({ spec }) => spec.username === `system:bootstrap:${id}`);

function clientOf({ url }: Rig, ca: string, key: string, cert: string) {
  const transport = createHttpsTransport({ server: url, ca, key, cert, clock: systemClock });
  return { client: createClient(transport), close: () => transport.close() };
}

describe('joining without manual approval', () => {
  let rig: Rig;
  let token: string;
  before(async () => {
    rig = await startRig('auto');
    token = await makeToken(rig, 'aaaaaa');
  });
  after(() => rig.cluster.stop());

  it('stores an identity with which the node needs no token any more', async () => {
    const { authority, client } = await joinCluster(options(rig, { token }), never);
    const connection = clientOf(rig, authority, client.key, client.certificate);
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;
    const metadata = { name: 'a', namespace: 'kube-node-lease' };
    await connection.client.resource(nodeResource).create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a' },
      spec: {},
    });
    await connection.client.resource(leaseResource).create({ ...lease, metadata, spec: {} });
    connection.close();
    const node = join(directory, 'node');
    assert.deepEqual((await readdir(node)).sort(), ['ca.crt', 'client.pem']);
    assert.equal((await stat(node)).mode & 0o777, 0o700);
    assert.equal((await stat(join(node, 'client.pem'))).mode & 0o777, 0o600);
    const again = await joinCluster(
      options(rig, { servers: ['https://127.0.0.1:1'], hash: undefined }),
      never,
    );
    assert.deepEqual(again.client, client);
    assert.equal(waits, 0);
    // An installation asks this before it changes anything.
    const stored = { files: new NodeFiles(node), nodeName: 'a' };
    assert.deepEqual(await storedMembership({ ...stored, hash: rig.hash }), { authority, client });
    await rejectsInOneLine(
      storedMembership({ ...stored, hash: `sha256:${'0'.repeat(64)}` }),
      /^this machine belongs to the cluster with ca-cert-hash /,
    );
    const none = new NodeFiles(join(directory, 'none'));
    assert.equal(await storedMembership({ files: none, nodeName: 'a', hash: rig.hash }), undefined);
    await rejectsInOneLine(
      joinCluster(options(rig, { nodeName: 'other', token }), never),
      /^this machine joined its cluster as a, not other; run minik8s reset to leave that cluster, or correct node-name$/,
    );
    await rejectsInOneLine(
      joinCluster(options(rig, { hash: `sha256:${'0'.repeat(64)}`, token }), never),
      new RegExp(
        `^(?=.*${rig.hash})${troubleText('this machine belongs to the cluster').source}correct ca-cert-hash$`,
      ),
    );
  });

  it('is repeated with a token when the expired certificate is refused; a wrong clock is an error', async () => {
    const files = new NodeFiles(join(directory, 'node'));
    const first = await joinCluster(options(rig, { token, files, nodeName: 'b' }), never);
    const later = new FakeClock(Date.now() + 400 * 24 * 3_600_000);
    for (const given of [token, undefined])
      await rejectsInOneLine(
        joinCluster(options(rig, { files, nodeName: 'b', token: given, clock: later }), never),
        /^the clock of this machine is .* ahead/,
      );
    assert.deepEqual(await files.pair('client'), first.client);
    const expired = await issueCertificate(rig.server.authority, {
      ...{ commonName: 'system:node:b', organizations: ['system:nodes'], usages: ['client'] },
      ...{ notBefore: Date.now() - 7_200_000, notAfter: Date.now() - 3_600_000 },
    });
    await files.writePair('client', expired);
    const { client } = await joinCluster(options(rig, { files, nodeName: 'b', token }), never);
    assert.ok(new X509Certificate(client.certificate).validToDate.getTime() > Date.now());
  });

  it('reports a wrong or expired token in one line that does not contain the token', async () => {
    const over = await makeToken(rig, 'bbbbbb', Date.now() - 1000);
    for (const bad of [over, `cccccc.${secret}`, 'aaaaaa.fedcba9876543210']) {
      await rejectsInOneLine(
        joinCluster(options(rig, { token: bad, nodeName: 'c' }), never),
        /^the token is wrong or has expired; put a new token into the node's configuration file/,
      );
    }
    // A valid token then succeeds.
    await joinCluster(options(rig, { token, nodeName: 'c' }), never);
  });

  it('fails with the name of a setting that is missing', async () => {
    await rejectsInOneLine(joinCluster(options(rig, {}), never), /has not joined yet and no token is given/);
    await rejectsInOneLine(
      joinCluster(options(rig, { token, hash: undefined }), never),
      /no ca-cert-hash is given; run minik8s token create/,
    );
  });

  it('fails if the node name belongs to a node that is alive', async () => {
    await rig.cluster.client.resource(leaseResource).create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'taken', namespace: 'kube-node-lease' },
      spec: { holderIdentity: 'taken', leaseDurationSeconds: 40, renewTime: rfc3339Micro(Date.now()) },
    });
    await rejectsInOneLine(
      joinCluster(options(rig, { token, nodeName: 'taken' }), never),
      /^the cluster refuses this machine as node taken: duplicate node name: .*choose another node-name/,
    );
    assert.deepEqual(await readdir(join(directory, 'node')), ['ca.crt']);
    await joinCluster(options(rig, { token, nodeName: 'free' }), never);
  });

  it('requests another certificate if the stored one is damaged', async () => {
    const files = new NodeFiles(join(directory, 'node'));
    const first = await joinCluster(options(rig, { token, files, nodeName: 'd' }), never);
    await writeFile(join(directory, 'node/client.pem'), first.client.certificate);
    const second = await joinCluster(options(rig, { token, files, nodeName: 'd' }), never);
    assert.notEqual(second.client.certificate, first.client.certificate);
  });

  it('renews a certificate of ten minutes while it is in use, with a key of its own each time', async () => {
    const { authority, client } = await joinCluster(options(rig, { token, nodeName: 'e' }), never);
    const identity = replaceable(client);
    const transport = createHttpsTransport({ server: rig.url, ca: authority, identity, clock: systemClock });
    const api = createClient(transport);
    const renew = async (signal: AbortSignal) => {
      const key = await makeKey();
      const order = { ...clientOrder('e', key), requester: 'e', expirationSeconds: 600 };
      return { key, certificate: await requestCertificate(context(api, authority), order, signal) };
    };
    identity.replace(await renew(never));
    const clock = new FakeClock(Date.now());
    const stop = new AbortController();
    const timing = { clock, random: new SeededRandom(3), log: silentLogger };
    const renewing = keepRenewed({ ...timing, identity, renew, what: 'certificate' }, stop.signal);
    const first = identity.value;
    await clock.advance(5 * 60_000);
    assert.equal(identity.value, first);
    await clock.advance(4.5 * 60_000);
    const second = await eventually(systemClock, 'another certificate', async () =>
      identity.value === first ? undefined : identity.value,
    );
    assert.notEqual(second.key, first.key);
    await api.resource(nodeResource).list({ fieldSelector: 'metadata.name=e' });
    stop.abort();
    await renewing;
    transport.close();
    assert.equal(clock.pending, 0);
  });
});

const context = (client: Client, authority: string) => ({
  client,
  clock: systemClock,
  random: new SeededRandom(2),
  log: silentLogger,
  authority,
});

describe('joining with manual approval', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig('manual');
  });
  after(() => rig.cluster.stop());

  async function approve(name: string): Promise<void> {
    const api = rig.cluster.client.resource(requests);
    const request = await api.get(name);
    const condition = { type: 'Approved', status: 'True' as const, reason: 'Test', message: 'it may' };
    await api.updateSubresource({ ...request, status: { conditions: [condition] } }, 'approval');
  }

  it('waits for the approval, and continues with the same request after an interruption', async () => {
    const token = await makeToken(rig, 'dddddd');
    const first = new AbortController();
    const waiting = joinCluster(options(rig, { token }), first.signal);
    const [asked] = await eventually(systemClock, 'the request', async () => {
      const all = await requestsBy(rig, 'dddddd');
      return all.length > 0 && waits > 0 ? all : undefined;
    });
    assert.ok(asked);
    first.abort(new DOMException('stopped', 'AbortError'));
    await assert.rejects(waiting, { name: 'AbortError' });
    assert.equal(waits, 1);
    assert.deepEqual((await readdir(join(directory, 'node'))).sort(), ['ca.crt', 'request.key']);
    assert.equal((await stat(join(directory, 'node/request.key'))).mode & 0o777, 0o600);
    const second = joinCluster(options(rig, { token }), never);
    await approve(asked.metadata.name);
    const { client } = await second;
    assert.match(new X509Certificate(client.certificate).subject, /CN=system:node:a/);
    assert.equal((await requestsBy(rig, 'dddddd')).length, 1);
  });

  it('reports a denial, and sends a new request the next time', async () => {
    const token = await makeToken(rig, 'eeeeee');
    const joining = joinCluster(options(rig, { token, nodeName: 'r' }), never);
    const refused = rejectsInOneLine(joining, /^the cluster refuses this machine as node r: .* was deleted/);
    const [newest] = await eventually(systemClock, 'the request', async () => {
      const found = await requestsBy(rig, 'eeeeee');
      return found.length > 0 ? found : undefined;
    });
    assert.ok(newest);
    // Rejects the machine by deleting its request.
    await rig.cluster.client.resource(requests).delete(newest.metadata.name);
    await refused;
    const stop = new AbortController();
    const again = joinCluster(options(rig, { token, nodeName: 'r' }), stop.signal);
    await eventually(systemClock, 'another request', async () => {
      const uids = (await requestsBy(rig, 'eeeeee')).map(({ metadata }) => metadata.uid);
      return uids.some((uid) => uid !== newest.metadata.uid) || undefined;
    });
    stop.abort(new DOMException('stopped', 'AbortError'));
    await assert.rejects(again, { name: 'AbortError' });
  });

  it('reports the denial even if it happens between the read of the request and its watch', async () => {
    const token = await makeToken(rig, 'ffffff');
    const connect: JoinOptions['connect'] = (ca, credentials) => {
      const transport = createHttpsTransport({ server: rig.url, ca, ...credentials, clock: systemClock });
      return {
        close: () => transport.close(),
        async request(request) {
          const name =
            request.path.includes('watch=') && /metadata\.name(?:=|%3D)([^&]+)/.exec(request.path)?.[1];
          if (name) await rig.cluster.client.resource(requests).delete(name);
          return transport.request(request);
        },
      };
    };
    await rejectsInOneLine(
      joinCluster(options(rig, { token, nodeName: 's', connect }), never),
      /^the cluster refuses this machine as node s: .* was deleted/,
    );
  });
});
