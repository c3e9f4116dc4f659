/** PodCertificateRequests of a node: for the pods that it runs, with their accounts and signers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { newKey } from '../../../src/kubelet/environment/certificate-key.ts';
import { core, inDefault, type NodeWorld, startNodeWorld } from './node-world.ts';

const group = '/apis/certificates.k8s.io/v1';
const requests = `${group}/namespaces/default/podcertificaterequests`;

describe('a node', () => {
  let world: NodeWorld;
  let stub: string;
  /** Uids by path. */
  let uids: Map<string, string>;
  before(async () => {
    world = await startNodeWorld();
    stub = (await newKey('ED25519')).request;
    for (const name of ['sa', 'other-sa'])
      await world.make(`${inDefault}/serviceaccounts`, { metadata: { name } });
    const podCertificate = { signerName: 'a.b/c', keyType: 'ED25519', keyPath: 'key' };
    const volumes = [{ name: 'v', projected: { sources: [{ podCertificate }] } }];
    for (const [name, node] of [
      ['proven', 'n1'],
      ['foreign', 'n2'],
    ] as const) {
      const spec = { serviceAccountName: 'sa', volumes, containers: [{ name: 'c', image: 'i' }] };
      await world.make(`${inDefault}/pods`, { metadata: { name }, spec });
      await world.make(`${inDefault}/pods/${name}/binding`, { target: { name: node } });
    }
    uids = new Map();
    for (const path of ['serviceaccounts/sa', 'serviceaccounts/other-sa', 'pods/proven', 'pods/foreign'])
      uids.set(path, await uidOf(`${inDefault}/${path}`));
    for (const name of ['n1', 'n2']) uids.set(name, await uidOf(`${core}/nodes/${name}`));
  });
  after(() => world.stop());
  const uidOf = async (path: string) => {
    const answer = await world.server.call('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<KubeObject>().metadata.uid;
  };

  const ownerOf = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', name, uid: uids.get(`pods/${name}`) });
  const specOf = (over: object) => ({
    ...{ signerName: 'a.b/c', podName: 'proven', podUID: uids.get('pods/proven'), serviceAccountName: 'sa' },
    ...{ serviceAccountUID: uids.get('serviceaccounts/sa'), nodeName: 'n1', nodeUID: uids.get('n1') },
    ...{ stubPKCS10Request: stub, ...over },
  });
  const create = (over: object = {}, metadata: object = { ownerReferences: [ownerOf('proven')] }) =>
    world.ask('POST', requests, { metadata: { generateName: 'req-', ...metadata }, spec: specOf(over) });

  it('requests a certificate for its own pod, and reads the request', async () => {
    const answer = await create();
    assert.equal(answer.status, 201, answer.text);
    const { name } = (JSON.parse(answer.text) as KubeObject).metadata;
    assert.match(name, /^req-/);
    const own = encodeURIComponent('spec.nodeName=n1');
    for (const [path, status] of [
      [`${requests}/${name}`, 200],
      [`${group}/podcertificaterequests?fieldSelector=${own}`, 200],
      [`${group}/podcertificaterequests?fieldSelector=${own}&watch=true&timeoutSeconds=1`, 200],
      [`${requests}?fieldSelector=${own}`, 200],
      [`${requests}?fieldSelector=${encodeURIComponent('spec.nodeName=n2')}`, 403],
      [`${requests}?fieldSelector=${encodeURIComponent('spec.podName=proven')}`, 403],
      [requests, 403],
      [`${requests}/${name}/status`, 403],
    ] as const)
      assert.equal((await world.ask('GET', path)).status, status, path);
    const stored = await world.ask('GET', `${requests}/${name}`);
    for (const [method, path] of [
      ['PUT', `${requests}/${name}`],
      ['PUT', `${requests}/${name}/status`],
      ['DELETE', `${requests}/${name}`],
    ] as const)
      assert.equal((await world.ask(method, path, JSON.parse(stored.text))).status, 403, `${method} ${path}`);
  });

  it('does not read a request of another node', async () => {
    const metadata = { name: 'foreign' };
    const foreign = { podName: 'foreign', podUID: uids.get('pods/foreign'), nodeName: 'n2' };
    await world.make(requests, { metadata, spec: specOf({ ...foreign, nodeUID: uids.get('n2') }) });
    assert.equal((await world.ask('GET', `${requests}/foreign`)).status, 403);
  });

  it('reads the accounts of its pods alone', async () => {
    for (const [name, status] of [
      ['sa', 200],
      ['other-sa', 403],
    ] as const)
      assert.equal((await world.ask('GET', `${inDefault}/serviceaccounts/${name}`)).status, status);
    assert.equal((await world.ask('GET', `${inDefault}/serviceaccounts`)).status, 403);
  });

  const foreign = (): object => ({ podName: 'foreign', podUID: uids.get('pods/foreign') });
  const otherAccount = (): object => ({
    serviceAccountName: 'other-sa',
    serviceAccountUID: uids.get('serviceaccounts/other-sa'),
  });
  const refusals: [what: string, over: () => object, status: number, why: RegExp][] = [
    [
      'as another node',
      () => ({ nodeName: 'n2' }),
      403,
      /NodeName="n2", which is not the requesting node "n1"/,
    ],
    [
      'with another uid of its Node',
      () => ({ nodeUID: 'x' }),
      409,
      /Node "n1" with the uid x, which has the uid/,
    ],
    ['for a pod of another node', foreign, 403, /pod "default\/foreign" is not running on node "n1"/],
    ['for a pod that was replaced', () => ({ podUID: 'x' }), 409, /Pod "default\/proven" with the uid x/],
    [
      'for a pod that does not exist',
      () => ({ podName: 'x' }),
      409,
      /Pod "default\/x" .*, which does not exist/,
    ],
    [
      'with another account',
      otherAccount,
      403,
      /serviceAccountName \("other-sa"\) that differs from running pod \("sa"\)/,
    ],
    [
      'with another uid of the account',
      () => ({ serviceAccountUID: 'x' }),
      409,
      /ServiceAccount "default\/sa"/,
    ],
    [
      'with a signer that the pod does not name',
      () => ({ signerName: 'a.b/d' }),
      403,
      /does not mount .* signer "a\.b\/d"/,
    ],
    ['without a key', () => ({ stubPKCS10Request: 'eA==' }), 422, /must be a valid PKCS#10 CSR/],
  ];
  for (const [what, over, status, why] of refusals)
    it(`does not request a certificate ${what}`, async () => {
      const answer = await create(over());
      assert.equal(answer.status, status, answer.text);
      assert.match((JSON.parse(answer.text) as { message: string }).message, why);
    });

  it('gives a request no other owner than the pod, and no finalizers', async () => {
    const [own, other] = [ownerOf('proven'), ownerOf('foreign')];
    for (const metadata of [
      { ownerReferences: [own, other] },
      { ownerReferences: [{ ...own, controller: true }] },
      { ownerReferences: [{ ...own, blockOwnerDeletion: true }] },
      { finalizers: ['a.b/c'] },
    ])
      assert.equal((await create({}, metadata)).status, 403, JSON.stringify(metadata));
  });
});
