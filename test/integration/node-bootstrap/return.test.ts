/**
 * A node whose certificate has expired returns with it over the real HTTPS API server; any other holder of an
 * expired certificate is refused.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { kubeletClientSigner, kubeletServingSigner } from '../../../src/api/certificates/v1/conditions.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { certificateAnnotation } from '../../../src/api/core/v1/node/annotations.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { rfc3339Micro } from '../../../src/base/time.ts';
import { createHttpsTransport } from '../../../src/client/https-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { requestCertificate } from '../../../src/node-bootstrap/certificate-request.ts';
import { joinCluster } from '../../../src/node-bootstrap/join.ts';
import { clientOrder, expiredNodeUser } from '../../../src/node-bootstrap/node-certificates.ts';
import { NodeFiles } from '../../../src/node-bootstrap/node-files.ts';
import { makeKey } from '../../../src/pki/new-request.ts';
import {
  type CertificateRequest,
  createAuthority,
  issueCertificate,
  type KeyAndCertificate,
} from '../../../src/pki/x509.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { troubleText } from '../../fixtures/troubleshooting.ts';
import { never, type Rig, rejectsInOneLine, startRig } from './join-rig.ts';

const hour = 3_600_000;
const day = 24 * hour;

let rig: Rig;
let directory: string;
before(async () => {
  rig = await startRig('auto');
});
after(() => rig.cluster.stop());
beforeEach(async (context) => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-return-'));
  (context as { after(fn: () => Promise<void>): void }).after(() => rm(directory, { recursive: true }));
});

const expiredOf = (node: string, more: Partial<CertificateRequest> = {}, authority = rig.server.authority) =>
  issueCertificate(authority, {
    commonName: `system:node:${node}`,
    organizations: ['system:nodes'],
    usages: ['client'],
    notBefore: Date.now() - 400 * day,
    notAfter: Date.now() - hour,
    ...more,
  });

const fingerprintOf = ({ certificate }: KeyAndCertificate) => new X509Certificate(certificate).fingerprint256;

/** Creates the Node whose last certificate is this one. */
const createNode = (name: string, last?: KeyAndCertificate) =>
  rig.cluster.client.resource(nodeResource).create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, ...(last && { annotations: { [certificateAnnotation]: fingerprintOf(last) } }) },
    spec: {},
  });

/** Starts a machine that has this certificate and no token. */
async function start(nodeName: string, client: KeyAndCertificate) {
  const files = new NodeFiles(join(directory, nodeName));
  await files.prepare();
  await files.writeAuthority(rig.server.authority.certificate);
  await files.writePair('client', client);
  return joinCluster(
    {
      ...{ servers: [rig.url], token: undefined, hash: undefined, nodeName, files },
      connect: (ca, credentials) =>
        createHttpsTransport({ server: rig.url, ca, ...credentials, clock: systemClock }),
      ...{ clock: systemClock, random: new SeededRandom(1), log: silentLogger },
      warn: (message) => assert.fail(message),
      onWaiting: () => {},
    },
    never,
  );
}

const refused = (name: string, pair: KeyAndCertificate, why: RegExp) =>
  rejectsInOneLine(start(name, pair), troubleText('the certificate of this node expired'), why);

function clientWith(pair: KeyAndCertificate) {
  const transport = createHttpsTransport({
    ...{ server: rig.url, ca: rig.server.authority.certificate, clock: systemClock },
    ...{ key: pair.key, cert: pair.certificate },
  });
  return { transport, client: createClient(transport) };
}

/** Requests a certificate for a node with the given key and certificate. */
async function order(pair: KeyAndCertificate, node: string, signerName = kubeletClientSigner) {
  const { transport, client } = clientWith(pair);
  const context = { client, clock: systemClock, random: new SeededRandom(1), log: silentLogger };
  const asked = { ...clientOrder(node, await makeKey()), requester: expiredNodeUser(node), signerName };
  try {
    return await requestCertificate(
      { ...context, authority: rig.server.authority.certificate },
      asked,
      never,
    );
  } finally {
    transport.close();
  }
}

describe('a node that was off past the end of its certificate', () => {
  it('gets its next certificate without a token, stores it, and works with it', async () => {
    const old = await expiredOf('a');
    await createNode('a', old);
    const { client } = await start('a', old);
    assert.ok(new X509Certificate(client.certificate).validToDate.getTime() > Date.now());
    assert.notEqual(client.key, old.key);
    assert.deepEqual(await new NodeFiles(join(directory, 'a')).pair('client'), client);
    const connection = clientWith(client);
    const { metadata } = await connection.client.resource(nodeResource).get('a');
    assert.equal(metadata.name, 'a');
    connection.transport.close();
  });

  it('cannot return a second time with the same certificate, once its Node has the next one', async () => {
    const old = await expiredOf('twice');
    await createNode('twice', old);
    const { client } = await start('twice', old);
    const annotations = { [certificateAnnotation]: fingerprintOf(client) };
    await rig.cluster.client
      .resource(nodeResource)
      .patch('twice', '', 'merge', { metadata: { annotations } });
    await refused('twice', old, /not the last one that node "twice" has used/);
  });

  it('may use the expired certificate for nothing else', async () => {
    const old = await expiredOf('idle');
    await createNode('idle', old);
    const { transport } = clientWith(old);
    const paths = [
      '/api/v1/nodes/idle',
      '/api/v1/namespaces/kube-system/secrets',
      '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      '/api',
      '/apis',
      '/metrics',
    ];
    for (const path of paths)
      assert.equal((await transport.request({ method: 'GET', path })).status, 403, path);
    transport.close();
  });
});

describe('the API server refuses', () => {
  it("a request for a certificate with another node's name", async () => {
    const old = await expiredOf('b');
    await createNode('b', old);
    await createNode('c', await expiredOf('c'));
    await assert.rejects(order(old, 'c'), /can only create a node CSR with CN=system:node:b/);
  });

  it('a request for a serving certificate', async () => {
    const old = await expiredOf('server');
    await createNode('server', old);
    await assert.rejects(
      order(old, 'server', kubeletServingSigner),
      /an expired certificate may only request certificates of signer kubernetes.io\/kube-apiserver-client-kubelet/,
    );
  });

  it('the return of a node whose Node object was deleted or recreated', async () => {
    const old = await expiredOf('gone');
    await createNode('gone', old);
    await rig.cluster.client.resource(nodeResource).delete('gone');
    await refused('gone', old, /there is no node "gone"/);
    await createNode('gone');
    await refused('gone', old, /not the last one that node "gone" has used/);
    await rig.cluster.client.resource(nodeResource).delete('gone');
    await createNode('gone', await expiredOf('gone'));
    await refused('gone', old, /not the last one that node "gone" has used/);
  });

  it('the return of a node whose Lease is recent', async () => {
    const old = await expiredOf('alive');
    await createNode('alive', old);
    await rig.cluster.client.resource(leaseResource).create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'alive', namespace: 'kube-node-lease' },
      spec: { holderIdentity: 'alive', leaseDurationSeconds: 40, renewTime: rfc3339Micro(Date.now()) },
    });
    await refused('alive', old, /node "alive" is alive: it renewed its Lease \d+ s ago/);
  });

  const strangers: [what: string, pair: () => Promise<KeyAndCertificate>][] = [
    [
      'a certificate of an authority with the same name',
      async () => expiredOf('x', {}, await createAuthority('test', Date.now() - 500 * day, Date.now() + day)),
    ],
    [
      'a certificate that expired more than a year ago',
      () => expiredOf('x', { notAfter: Date.now() - 366 * day }),
    ],
    ['a serving certificate that expired', () => expiredOf('x', { usages: ['server'], hosts: ['x'] })],
    ["a user's certificate that expired", () => expiredOf('x', { commonName: 'anna', organizations: [] })],
    [
      "an administrator's certificate that expired",
      () => expiredOf('x', { organizations: ['system:nodes', 'system:masters'] }),
    ],
    ["a user's certificate with the name of a node", () => expiredOf('x', { organizations: ['people'] })],
  ];
  for (const [what, pair] of strangers)
    it(`${what}, with the status 401`, async () => {
      const { transport } = clientWith(await pair());
      const answer = await transport.request({ method: 'GET', path: '/api/v1/nodes' });
      assert.equal(answer.status, 401);
      transport.close();
    });

  it('a request with a valid certificate whose user name is that of an expired node', async () => {
    await createNode('named');
    const pair = await rig.server.clientCertificate(expiredNodeUser('named'), ['system:expired-nodes']);
    await assert.rejects(order(pair, 'named'), /not the last one that node "named" has used/);
  });
});
