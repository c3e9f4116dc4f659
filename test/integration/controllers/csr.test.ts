import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type CertificateSigningRequest,
  certificateSigningRequestResource as requests,
} from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { hostnameAnnotation } from '../../../src/api/coordination/v1/master-lease.ts';
import { type Node, nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { rfc3339Micro } from '../../../src/base/time.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import type { NodeApproval } from '../../../src/controllers/certificates/csr-approving-plan.ts';
import { masterLabels } from '../../../src/controllers/masters/masters-plan.ts';
import { makeKey, makeRequest, type RequestedSubject } from '../../../src/pki/new-request.ts';
import type { KeyAndCertificate } from '../../../src/pki/x509.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import {
  attribute,
  certificateRequest,
  der,
  extensionRequest,
  name,
  subjectAltName,
} from '../../fixtures/der.ts';
import type { FakeClock } from '../../fixtures/fake-clock.ts';
import { type Cluster, startCluster } from './cluster.ts';

const client = ['digital signature', 'client auth'];
const server = ['digital signature', 'server auth'];
const clientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const servingSigner = 'kubernetes.io/kubelet-serving';
const joiner: UserInfo = {
  name: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers', 'system:authenticated'],
};
const nodeUser = (name: string): UserInfo => ({
  name: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
});
const nodeSubject = (name: string, hosts: readonly string[] = []): RequestedSubject => ({
  commonName: `system:node:${name}`,
  organizations: ['system:nodes'],
  hosts,
});

interface Rig {
  readonly cluster: Cluster;
  readonly authority: KeyAndCertificate;
  readonly clock: FakeClock;
  clientOf(user: UserInfo): Client;
}

async function startRig(nodeApproval: NodeApproval): Promise<Rig> {
  const apiServer = await startTestServer();
  const authority = await testAuthority(apiServer.clock.now());
  const cluster = await startCluster({ server: apiServer, authority, nodeApproval });
  return {
    cluster,
    authority,
    clock: apiServer.clock,
    clientOf: (user) => createClient(inProcessTransport(apiServer.handlerFor(user))),
  };
}

let count = 0;

async function ask(
  { clientOf, clock }: Rig,
  user: UserInfo,
  subject: RequestedSubject,
  spec: Partial<CertificateSigningRequest['spec']> = {},
): Promise<string> {
  const pem = await clock.elsewhere(makeKey().then((key) => makeRequest(key, subject)));
  const created = await clientOf(user)
    .resource(requests)
    .create({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `request-${count++}` },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: clientSigner,
        usages: client,
        ...spec,
      },
    });
  return created.metadata.name;
}

const conditionOf = (request: CertificateSigningRequest, type: string) =>
  request.status?.conditions?.find((condition) => condition.type === type);

function certificateOf(rig: Rig, name: string): Promise<X509Certificate> {
  return rig.cluster.eventually(`the certificate of ${name}`, async () => {
    const { status } = await rig.cluster.client.resource(requests).get(name);
    if (status?.conditions?.some(({ type }) => type === 'Denied' || type === 'Failed'))
      throw new Error(JSON.stringify(status.conditions));
    return status?.certificate ? new X509Certificate(Buffer.from(status.certificate, 'base64')) : undefined;
  });
}

function refusalOf(rig: Rig, name: string): Promise<{ reason?: string; message?: string }> {
  return rig.cluster.eventually(`the refusal of ${name}`, async () => {
    const request = await rig.cluster.client.resource(requests).get(name);
    assert.equal(request.status?.certificate, undefined);
    return conditionOf(request, 'Denied') ?? conditionOf(request, 'Failed');
  });
}

const lifeOf = ({ clock }: Rig, certificate: X509Certificate) =>
  (Date.parse(certificate.validTo) - clock.now()) / 1000;

describe('joining at once', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig('auto');
  });
  after(() => rig.cluster.stop());

  it('gives a machine with a token the certificate of its node, for a year', async () => {
    const name = await ask(rig, joiner, nodeSubject('a'));
    const certificate = await certificateOf(rig, name);
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:a');
    assert.ok(certificate.verify(new X509Certificate(rig.authority.certificate).publicKey));
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
    assert.equal(certificate.subjectAltName, undefined);
    assert.equal(certificate.ca, false);
    assert.ok(Math.abs(lifeOf(rig, certificate) - 365 * 24 * 3600) < 60, `${lifeOf(rig, certificate)} s`);
    const stored = await rig.cluster.client.resource(requests).get(name);
    assert.equal(stored.spec.username, joiner.name);
    assert.equal(conditionOf(stored, 'Approved')?.reason, 'AutoApproved');
    assert.match(conditionOf(stored, 'Approved')?.lastUpdateTime ?? '', /^\d{4}-.*Z$/);
  });

  it('signs certificates for the requested duration if that is shorter', async () => {
    const name = await ask(rig, joiner, nodeSubject('b'), { expirationSeconds: 600 });
    assert.ok(Math.abs(lifeOf(rig, await certificateOf(rig, name)) - 600) < 60);
  });

  const announceMaster = (address: string, host: string) =>
    rig.cluster.client.resource(leaseResource).create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: `apiserver-${address}-6443`,
        namespace: 'kube-system',
        labels: masterLabels,
        annotations: { [hostnameAnnotation]: host },
      },
      spec: { holderIdentity: `${address}:6443`, leaseDurationSeconds: 15 },
    });

  it('gives a node a serving certificate for its own name and address, once the masters are known', async () => {
    const hosts = ['c', '192.0.2.3'];
    const name = await ask(rig, nodeUser('c'), nodeSubject('c', hosts), {
      signerName: servingSigner,
      usages: server,
    });
    await rig.cluster.eventually('the wait', async () =>
      rig.cluster.log
        .of('info')
        .some(({ message }) => /waits: the addresses of the masters are not known yet/.test(message)),
    );
    await announceMaster('192.0.2.10', 'master-1');
    const certificate = await certificateOf(rig, name);
    assert.equal(certificate.subjectAltName, 'DNS:c, IP Address:192.0.2.3');
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  });

  /** Encoded as bytes: a node's request need not be one that a library would write. */
  const addressOf = (ip: string) => der(0x87, Buffer.from(ip, 'hex'));
  const mapped = (ip: string) => addressOf(`00000000000000000000ffff${ip}`);
  const nameOf = (text: string) => der(0x82, Buffer.from(text));
  const passing: [what: string, san: Buffer][] = [
    ['the API’s Service as IPv6', mapped('0a600001')],
    ['a master as IPv6', mapped('c000020a')],
    ['a master', addressOf('c000020a')],
    ['the API’s Service, which does not exist here', addressOf('0a600001')],
    ['loopback', addressOf('7f000001')],
    ['the Service in capitals', nameOf('KUBERNETES.DEFAULT.SVC')],
    ['localhost with a dot', nameOf('localhost.')],
    ['a wildcard', nameOf('*.default')],
    ['every name', nameOf('*')],
    ['an address as a name', nameOf('10.96.0.1')],
    ['a master’s host name', nameOf('master-1')],
  ];
  for (const [what, san] of passing) {
    it(`gives no node a serving certificate for ${what}`, async () => {
      const named = name([attribute('O', 'system:nodes')], [attribute('CN', 'system:node:evil')]);
      const pem = certificateRequest(named, [extensionRequest(subjectAltName(san))]);
      const created = await rig
        .clientOf(nodeUser('evil'))
        .resource(requests)
        .create({
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata: { name: `passing-${count++}` },
          spec: { request: Buffer.from(pem).toString('base64'), signerName: servingSigner, usages: server },
        });
      const { reason = '' } = await refusalOf(rig, created.metadata.name);
      assert.match(reason, /^(InvalidRequest|NotItsName|NotItsAddress)$/);
    });
  }

  it('gives no node the address of a master that has failed', async () => {
    const answerTo = async (address: string) => {
      const asked = await ask(rig, nodeUser('evil'), nodeSubject('evil', [address]), {
        signerName: servingSigner,
        usages: server,
      });
      return rig.cluster.eventually('a decision', async () => {
        const { status } = await rig.cluster.client.resource(requests).get(asked);
        return status?.conditions?.[0]?.type;
      });
    };
    const known = (address: string) =>
      rig.cluster.eventually(`${address} to be known`, async () => (await answerTo(address)) === 'Denied');
    await announceMaster('192.0.2.11', 'master-2');
    await known('192.0.2.11');
    await rig.cluster.client.resource(leaseResource).delete('apiserver-192.0.2.11-6443', 'kube-system');
    // Events arrive in order: a master that has received this event has also received the removal of the
    // other.
    await announceMaster('192.0.2.12', 'master-3');
    await known('192.0.2.12');
    assert.equal(await answerTo('192.0.2.11'), 'Denied');
  });

  it('renews the client certificate of a node', async () => {
    const certificate = await certificateOf(rig, await ask(rig, nodeUser('d'), nodeSubject('d')));
    assert.match(certificate.subject, /CN=system:node:d$/);
  });

  it('deletes the requests of a node when the node is deleted', async () => {
    const name = await ask(rig, joiner, nodeSubject('brief'));
    await certificateOf(rig, name);
    await rig.cluster.addNode('brief');
    await rig.cluster.eventually('the request to be the node’s', async () => {
      const { metadata } = await rig.cluster.client.resource(requests).get(name);
      return metadata.ownerReferences?.[0]?.name === 'brief';
    });
    await rig.cluster.client.resource(nodeResource).delete('brief');
    await rig.cluster.eventually(
      'the deletion of the request',
      async () => (await rig.cluster.get(requests, name)) === undefined,
    );
  });

  it('denies a request with the name of a node while that node is alive', async () => {
    const { client: api } = rig.cluster;
    const lease = (renewTime: string) => ({ holderIdentity: 'twin', leaseDurationSeconds: 40, renewTime });
    let current = await api.resource(leaseResource).create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'twin', namespace: 'kube-node-lease' },
      spec: lease(rfc3339Micro(rig.clock.now())),
    });
    const renew = async (time: number) => {
      current = await api.resource(leaseResource).update({ ...current, spec: lease(rfc3339Micro(time)) });
    };
    const refusal = await rig.cluster.eventually('a refusal', async () => {
      // The clock advances while the master receives the Lease: one that is not renewed would expire.
      await renew(rig.clock.now());
      const name = await ask(rig, joiner, nodeSubject('twin'));
      const request = await rig.cluster.eventually('a decision', async () => {
        const found = await api.resource(requests).get(name);
        return found.status?.conditions && found;
      });
      return conditionOf(request, 'Denied');
    });
    assert.equal(refusal.reason, 'DuplicateNodeName');
    assert.match(refusal.message ?? '', /^duplicate node name: a node "twin" is alive .* choose another/);
    await renew(rig.clock.now() - 41_000);
    await rig.cluster.eventually('an approval', async () => {
      const name = await ask(rig, joiner, nodeSubject('twin'));
      const request = await rig.cluster.eventually('a decision', async () => {
        const found = await api.resource(requests).get(name);
        return found.status?.conditions && found;
      });
      return conditionOf(request, 'Approved');
    });
  });
});

describe('joining by approval of an administrator', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig('manual');
  });
  after(() => rig.cluster.stop());

  const pending = (name: string) =>
    rig.cluster.eventually(`the pending node ${name}`, async () => {
      const node = await rig.cluster.get(nodeResource, name);
      return node?.status?.phase === 'Pending' && node;
    });
  const gone = (name: string) =>
    rig.cluster.eventually(
      `${name} to go`,
      async () => (await rig.cluster.get(nodeResource, name)) === undefined,
    );

  async function decide(name: string, type: 'Approved' | 'Denied') {
    const api = rig.cluster.client.resource(requests);
    const request = await rig.cluster.eventually('its owner', async () => {
      const found = await api.get(name);
      return found.metadata.ownerReferences && found;
    });
    request.status = { conditions: [{ type, status: 'True', reason: 'Test' }] };
    await api.updateSubresource(request, 'approval');
  }

  it('shows the machine as a Pending node, and admits it when it is approved', async () => {
    const name = await ask(rig, joiner, nodeSubject('a'));
    await pending('a');
    assert.equal((await rig.cluster.client.resource(requests).get(name)).status?.conditions, undefined);
    const pod = {
      metadata: { name: 'p', namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    await rig.cluster.client
      .resource(podResource)
      .create({ apiVersion: 'v1', kind: 'Pod', ...pod } as Draft<Pod>);
    await rig.cluster.eventually('the scheduler to find no node', async () => {
      const found = await rig.cluster.get(podResource, 'p');
      assert.equal(found?.spec.nodeName, undefined);
      return found?.status?.conditions?.some(({ reason }) => reason === 'Unschedulable');
    });
    await decide(name, 'Approved');
    await certificateOf(rig, name);
    const node = await rig.cluster.eventually('a node that waits no more', async () => {
      const found = await rig.cluster.get(nodeResource, 'a');
      return found?.status?.phase === undefined && found;
    });
    assert.deepEqual((node as Node).metadata.ownerReferences ?? [], []);
  });

  it('deletes the pending node when the machine is rejected', async () => {
    const name = await ask(rig, joiner, nodeSubject('b'));
    await pending('b');
    await decide(name, 'Denied');
    await gone('b');
  });

  it('deletes the request with the pending node, and the pending node with its request', async () => {
    const first = await ask(rig, joiner, nodeSubject('c'));
    await pending('c');
    await rig.cluster.eventually('an owner', async () => {
      const { metadata } = await rig.cluster.client.resource(requests).get(first);
      return metadata.ownerReferences?.length === 1;
    });
    await rig.cluster.client.resource(nodeResource).delete('c');
    await rig.cluster.eventually(
      'the deletion of the request',
      async () => (await rig.cluster.get(requests, first)) === undefined,
    );
    assert.equal(await rig.cluster.get(nodeResource, 'c'), undefined);
    const second = await ask(rig, joiner, nodeSubject('c'));
    await pending('c');
    await rig.cluster.client.resource(requests).delete(second);
    await gone('c');
  });

  it('renews the certificate of an approved node, and of a deleted one only after it is added again', async () => {
    await rig.cluster.addNode('old');
    await certificateOf(rig, await ask(rig, nodeUser('old'), nodeSubject('old')));
    const name = await ask(rig, nodeUser('out'), nodeSubject('out'));
    const refused = await ask(rig, nodeUser('out'), nodeSubject('out', ['kubernetes.default.svc']), {
      signerName: servingSigner,
      usages: server,
    });
    assert.equal((await refusalOf(rig, refused)).reason, 'NotItsName');
    assert.deepEqual((await rig.cluster.client.resource(requests).get(name)).status, {});
    await rig.cluster.addNode('out');
    await certificateOf(rig, name);
  });
});
