/**
 * `ctl certificate` beside kubectl 1.32, and `ctl add node` where joining requires an administrator's
 * approval.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CertificateSigningRequest } from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { makeKey, makeRequest } from '../../../src/pki/new-request.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';
import { eventually } from '../kubelet/node-harness.ts';

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

async function requestOf(name: string, spec: object, commonName: string, organization: string) {
  const pem = await makeRequest(await makeKey(), { commonName, organizations: [organization], hosts: [] });
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      usages: ['digital signature', 'client auth'],
      ...spec,
    },
  };
}

describe('ctl certificate, beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ours: Ctl;
  let theirs: Ctl;

  before(async () => {
    ({ server, ctl: ours, kubectl: theirs } = await startBesideKubectl({ clock: systemClock }));
    for (const side of ['ours', 'theirs']) {
      for (const name of ['a', 'b', 'c']) {
        const spec = { signerName: 'kubernetes.io/kube-apiserver-client' };
        const body = await requestOf(`${side}-${name}`, spec, 'alice', 'developers');
        const { status, text } = await server.call('POST', collection, body);
        assert.equal(status, 201, text);
      }
    }
  });
  after(() => server.stop());

  const commands = [
    'approve X-a',
    'approve X-a',
    'deny X-a',
    'deny csr/X-b',
    'approve X-b',
    'approve X-c --force',
    'approve X-c --force',
    'approve nosuch',
  ];
  for (const command of commands) {
    it(`certificate ${command} has the same result`, async () => {
      const run = async (tool: Ctl, side: string) => {
        const result = await tool(['certificate', ...command.replace('X', side).split(' ')]);
        const list = (await server.call('GET', collection)).json<{ items: CertificateSigningRequest[] }>();
        const conditions = list.items
          .filter(({ metadata }) => metadata.name.startsWith(side))
          .map(({ status }) =>
            status?.conditions?.map(({ type, status: is, reason }) => ({ type, is, reason })),
          );
        const plain = (text: string) => text.replaceAll(side, 'X');
        return { ...result, out: plain(result.out), err: plain(result.err), conditions };
      };
      assert.deepEqual(await run(ours, 'ours'), await run(theirs, 'theirs'));
    });
  }

  it('rejects a command line without requests', async () => {
    const { status, err } = await ours(['certificate', 'approve']);
    assert.deepEqual(
      [status, err],
      [1, 'error: one or more CSRs must be specified as <name> or -f <filename>\n'],
    );
  });
});

describe('ctl add node', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let cluster: Cluster;
  let ctl: Ctl;

  before(async () => {
    server = await startHttpsTestServer({ clock: systemClock });
    cluster = await startCluster({ server, authority: server.authority, nodeApproval: 'manual' });
    ctl = ctlFor(await server.kubeconfigFor('kubernetes-admin', ['system:masters']));
  });
  after(() => cluster.stop());

  const joiner: UserInfo = {
    name: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers', 'system:authenticated'],
  };

  /** Requests to join, as a machine with a token does. */
  async function knock(name: string): Promise<void> {
    const spec = { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' };
    const body = await requestOf(`csr-${name}`, spec, `system:node:${name}`, 'system:nodes');
    const { status, text } = await server.call('POST', collection, body, { user: joiner });
    assert.equal(status, 201, text);
    await eventually(async () => {
      const { out } = await ctl(['get', 'nodes', name, '--no-headers']);
      assert.match(out, new RegExp(`^${name} +Pending`));
      assert.ok((await request(name))?.metadata.ownerReferences, 'the two go together');
    });
  }
  const request = async (name: string) => {
    const { status, json } = await server.call('GET', `${collection}/csr-${name}`);
    return status === 404 ? undefined : json<CertificateSigningRequest>();
  };
  const node = async (name: string) => {
    const { status, json } = await server.call('GET', `/api/v1/nodes/${name}`);
    return status === 404 ? undefined : json<Node>();
  };
  const isIn = (name: string) =>
    eventually(async () => {
      assert.ok((await request(name))?.status?.certificate, 'it has its certificate');
      const found = await node(name);
      assert.ok(found, 'it has its Node');
      assert.equal(found.status?.phase, undefined);
    });

  it('admits the named machine only', async () => {
    await knock('one');
    await knock('two');
    assert.deepEqual(await ctl(['add', 'node', 'one']), { status: 0, out: 'node/one added\n', err: '' });
    await isIn('one');
    assert.equal((await request('two'))?.status?.conditions, undefined);
    assert.equal((await node('two'))?.status?.phase, 'Pending');
  });

  it('admits all waiting machines without a name', async () => {
    await knock('three');
    const { out } = await ctl(['add', 'node']);
    assert.deepEqual(out.split('\n').sort(), ['', 'node/three added', 'node/two added']);
    await isIn('two');
    await isIn('three');
    assert.equal((await ctl(['add', 'node'])).out, 'No machine is waiting for approval.\n');
  });

  it('admits a machine whose Node was deleted', async () => {
    assert.equal((await ctl(['add', 'node', 'one'])).out, 'node/one is in the cluster already\n');
    const removed = await ctl(['delete', 'node', 'one']);
    assert.equal(removed.out, 'node "one" deleted\n');
    assert.equal(await node('one'), undefined);
    assert.equal((await ctl(['add', 'node', 'node/one'])).out, 'node/one added\n');
    assert.ok(await node('one'));
  });

  it('warns if no machine of that name waits, with the command that deletes the Node', async () => {
    const { status, out, err } = await ctl(['add', 'node', 'ghost']);
    assert.deepEqual([status, out], [0, 'node/ghost added\n']);
    assert.match(err, /^Warning: no machine named ghost waits .* node\/ghost stays NotReady .*\n$/);
    const [, command = ''] = /: minik8s ctl (delete node ghost)\n$/.exec(err) ?? [];
    assert.equal((await ctl(command.split(' '))).out, 'node "ghost" deleted\n');
    // No warning is printed for a node that is in the cluster already.
    assert.deepEqual(await ctl(['add', 'node', 'one']), {
      status: 0,
      out: 'node/one is in the cluster already\n',
      err: '',
    });
  });

  it('is undone by deleting the Node: its request is deleted too', async () => {
    await knock('four');
    await ctl(['delete', 'node', 'four']);
    await eventually(async () => {
      assert.equal(await request('four'), undefined);
      assert.equal(await node('four'), undefined);
    });
  });
});
