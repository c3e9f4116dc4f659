/** Requests for file triggers that a malicious node may or may not send. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { folderWatchResource } from '../../../../../src/features/triggers/api/folder-watch.ts';
import { World } from './world.ts';

const group = '/apis/minik8s.io/v1/namespaces/default';
const all = '/apis/minik8s.io/v1';
const as = (node: string) => ({
  user: { name: `system:node:${node}`, groups: ['system:nodes', 'system:authenticated'] },
});
const merge = { 'content-type': 'application/merge-patch+json' };

const world = new World('127.0.35');
let owner: object;
let watch: string;
let other: string;
before(async () => {
  await world.start();
  for (const name of ['n1', 'n2'])
    await world.call('POST', '/api/v1/nodes', { metadata: { name, labels: { is: name } } });
  const file = (node: string) => ({ folder: '/srv/in', types: ['Created'], nodeSelector: { is: node } });
  await world.fn('f', (_incoming, outgoing) => void outgoing.writeHead(503).end());
  const retry = { maxAttempts: 100, minSeconds: 60, maxSeconds: 60 };
  const { metadata } = await world.trigger('t', { target: { name: 'f' }, file: file('n1'), retry });
  await world.trigger('theirs', { target: { name: 'f' }, file: file('n2') });
  await world.trigger('door', { target: { name: 'f' }, http: { path: '/door' } });
  const watches = await world.eventually('they are to be watched', async () => {
    const { items } = await world.client.resource(folderWatchResource).list({ namespace: 'default' });
    return items.length === 2 && items;
  });
  watch = watches.find(({ spec }) => spec.nodeName === 'n1')?.metadata.name ?? '';
  other = watches.find(({ spec }) => spec.nodeName === 'n2')?.metadata.name ?? '';
  owner = {
    apiVersion: 'minik8s.io/v1',
    kind: 'Trigger',
    name: 't',
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
});
after(() => world.end());

let next = 1;
const event = (spec: object = {}, metadata: object = {}) => {
  const id = `${next++}`.padStart(16, '0').padEnd(32, '0');
  const trigger = (spec as { trigger?: string }).trigger ?? 't';
  return {
    metadata: {
      name: `${trigger}-${id.slice(0, 16)}`,
      labels: { 'minik8s.io/trigger': trigger },
      ownerReferences: [owner],
      ...metadata,
    },
    spec: {
      trigger: 't',
      id,
      type: 'minik8s.io/file.created',
      source: '/folders/srv/in',
      time: '2026-01-01T00:00:00Z',
      data: { path: 'a', node: 'n1' },
      ...spec,
    },
  };
};

it('a node creates an event for a file in a folder that it watches', async () => {
  const answer = await world.call('POST', `${group}/triggerevents`, event(), as('n1'));
  assert.equal(answer.status, 201, answer.text);
});

const refused: readonly (readonly [string, object, object?])[] = [
  ['of a trigger that another node watches', { trigger: 'theirs' }],
  ['of a trigger without files', { trigger: 'door' }],
  ['of a trigger that does not exist', { trigger: 'none' }],
  ['of another folder', { source: '/folders/etc' }],
  ['of a change that the trigger does not select', { type: 'minik8s.io/file.deleted' }],
  ['of another type', { type: 'minik8s.io/http.request' }],
  ['of another node', { data: { path: 'a', node: 'n2' } }],
  ['without a node', { data: 'a' }],
  ['in a chain of results', { depth: 3 }],
  ['with a replay count', { replays: 1 }],
  ['with an invented id', { id: 'mine' }],
  ['with an invented name', {}, { name: 'mine' }],
  ['with labels', {}, { labels: { 'minik8s.io/trigger': 't', app: 'web' } }],
  ['with annotations', {}, { annotations: { a: 'b' } }],
  ['with a finalizer', {}, { finalizers: ['a.b/c'] }],
  ['without its owner', {}, { ownerReferences: [] }],
];
describe('a node cannot create an event', () => {
  for (const [name, spec, metadata] of refused)
    it(name, async () => {
      const answer = await world.call('POST', `${group}/triggerevents`, event(spec, metadata), as('n1'));
      assert.equal(answer.status, 403, answer.text);
    });
  it('for a FolderWatch of another node', async () => {
    const answer = await world.call('POST', `${group}/triggerevents`, event(), as('n2'));
    assert.equal(answer.status, 403, answer.text);
  });
  it('while a thousand events wait', async () => {
    for (let n = 0; n < 1000; n++) await world.call('POST', `${group}/triggerevents`, event());
    await world.eventually('no more are taken', async () => {
      const answer = await world.call('POST', `${group}/triggerevents`, event(), as('n1'));
      return answer.status === 429;
    });
  });
});

describe('a node', () => {
  const ofNode = (name: string) => `?fieldSelector=spec.nodeName%3D${name}`;
  const attempts: readonly (readonly [string, string, string, unknown, number])[] = [
    ['reads its own FolderWatches', 'GET', `${all}/folderwatches${ofNode('n1')}`, undefined, 200],
    [
      'cannot read the FolderWatches of another node',
      'GET',
      `${all}/folderwatches${ofNode('n2')}`,
      undefined,
      403,
    ],
    ['cannot read all FolderWatches', 'GET', `${all}/folderwatches`, undefined, 403],
    ['cannot read triggers', 'GET', `${group}/triggers`, undefined, 403],
    ['cannot read the trigger of a folder that it watches', 'GET', `${group}/triggers/t`, undefined, 403],
    ['cannot read events', 'GET', `${group}/triggerevents`, undefined, 403],
    ['cannot send a request to a trigger', 'POST', `${group}/triggers/t/invoke`, {}, 403],
    ['cannot create a FolderWatch', 'POST', `${group}/folderwatches`, {}, 403],
  ];
  for (const [name, method, path, body, status] of attempts)
    it(name, async () => {
      const answer = await world.call(method, path, body, as('n1'));
      assert.equal(answer.status, status, answer.text);
    });

  it('writes the status of its own watches, and nothing else', async () => {
    const say = (name: string, sub: string, body: object) =>
      world.call('PATCH', `${group}/folderwatches/${name}${sub}`, body, { ...as('n1'), headers: merge });
    const status = { reason: 'Watching', message: '' };
    assert.equal((await say(watch, '/status', { status })).status, 200);
    assert.equal((await say(other, '/status', { status })).status, 403);
    assert.equal((await say(watch, '', { metadata: { labels: { a: 'b' } } })).status, 403);
    assert.equal((await say(watch, '/status', { status, spec: { folder: '/etc' } })).status, 200);
    const found = await world.client.resource(folderWatchResource).get(watch, 'default');
    assert.deepEqual([found.spec.folder, found.status?.reason], ['/srv/in', 'Watching']);
  });

  it('cannot change, remove or read an event', async () => {
    const name = (await world.events('t'))[0]?.metadata.name;
    for (const [method, body] of [
      ['PATCH', { spec: { replays: 1 } }],
      ['DELETE', undefined],
      ['GET', undefined],
    ] as const)
      assert.equal(
        (await world.call(method, `${group}/triggerevents/${name}`, body, { ...as('n1'), headers: merge }))
          .status,
        403,
      );
  });
});
