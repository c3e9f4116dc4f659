/** Tables of the requests for watches of folders and events of files that a node may and may not make. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import type { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { Admission } from '../../../../../src/apiserver/admission/plugin.ts';
import { folderWatchResource } from '../../../../../src/features/triggers/api/folder-watch.ts';
import { fileNodeAccess } from '../../../../../src/features/triggers/server/file-events.ts';
import type { ResourceAccess } from '../../../../../src/kube-apiserver/authorization/node-access.ts';
import type { IndexDeclaration } from '../../../../../src/storage/cache.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { meta } from '../../../controllers/objects.ts';

const owner = { apiVersion: 'minik8s.io/v1', kind: 'Trigger', name: 't', uid: 'uid-t', controller: true };
const watch = (name: string, nodeName: string, spec: object = {}) => ({
  kind: 'FolderWatch',
  metadata: meta(name, { ownerReferences: [owner as never] }),
  spec: { nodeName, trigger: 't', source: '/folders/in', types: ['Created', 'Deleted'], ...spec },
});
const waiting = { kind: 'TriggerEvent', metadata: meta('e'), spec: { trigger: 't', replays: 0 }, status: {} };

/** A server with these objects; the cache shows `late` only when it has caught up. */
function world(objects: readonly object[], late: readonly object[] = []) {
  const shown = [...objects] as KubeObject[];
  let asked = 0;
  const under = ({ prefix, keysOf }: IndexDeclaration, key: string) =>
    shown.filter(
      (object) =>
        prefix.includes(`/${object.kind === 'FolderWatch' ? 'folderwatches' : 'triggerevents'}.`) &&
        [...keysOf(object)].includes(key),
    );
  const cache = {
    revision: 1,
    get: (key: string) => {
      const object = shown.find(
        ({ kind, metadata }) =>
          kind === 'FolderWatch' &&
          storageKey(folderWatchResource, metadata.namespace ?? '', metadata.name) === key,
      );
      return object && { object };
    },
    index: (declaration: IndexDeclaration) => ({
      has: (key: string) => under(declaration, key).length > 0,
      get: (key: string) => under(declaration, key).map((object) => ({ object })),
    }),
    waitUntil: async () => void shown.push(...(late as KubeObject[])),
  };
  const latest = {
    ask: async () => {
      asked++;
      return 2;
    },
  };
  const store = { get: async () => undefined };
  const access = fileNodeAccess({ cache, latest, store, clock: new FakeClock() } as never);
  return { access, asked: () => asked };
}

describe('a watch of a folder', () => {
  const { access } = world([watch('own', 'n1'), watch('other', 'n2')]);
  it('is listed, watched and reported on by nodes, which create events', () => {
    assert.deepEqual(
      access.rules.map(({ group, resources, verbs }) => [group, resources.join(), verbs.join()]),
      [
        ['minik8s.io', 'folderwatches', 'list,watch'],
        ['minik8s.io', 'folderwatches/status', 'patch'],
        ['minik8s.io', 'triggerevents', 'create'],
      ],
    );
  });
  for (const [name, allowed] of [
    ['own', true],
    ['other', false],
    ['', false],
    // The node is answered that it is gone.
    ['gone', true],
  ] as const)
    it(`has its status written by n1 if it is ${name || 'unnamed'}: ${allowed}`, async () => {
      const request = { type: 'resource', namespace: 'default', name } as ResourceAccess;
      assert.equal(await access.rules[1]?.when(request, 'n1', {} as never), allowed);
    });
  it('may only be listed by the name of its node', async () => {
    const request = (node?: string) =>
      ({
        ...{ type: 'resource', namespace: '', name: '' },
        fieldSelector: node === undefined ? [] : [{ path: 'spec.nodeName', operator: '=', value: node }],
      }) as unknown as ResourceAccess;
    const may = async (node?: string) => access.rules[0]?.when(request(node), 'n1', {} as never);
    assert.deepEqual([await may('n2'), await may()], [false, false]);
  });
  const restriction = access.restrictions?.['minik8s.io/folderwatches'] ?? assert.fail();
  for (const [what, over, reason] of [
    ['status of its own', {}, undefined],
    ['status of another', { old: watch('w', 'n2') }, 'node "n1" may only change FolderWatches of its own'],
    [
      'status of another that it names as its own',
      { object: watch('w', 'n1'), old: watch('w', 'n2') },
      'node "n1" may only change FolderWatches of its own',
    ],
    ['spec', { subresource: '' }, 'node "n1" may only change the status of a FolderWatch'],
    ['deletion', { object: undefined }, 'node "n1" may only change the status of a FolderWatch'],
    ['creation', { old: undefined }, 'node "n1" may only change the status of a FolderWatch'],
  ] as const)
    it(`${what}: ${reason ?? 'allowed'}`, () => {
      const admission = { subresource: 'status', object: watch('w', 'n1'), old: watch('w', 'n1'), ...over };
      assert.equal(restriction.check('n1', admission as unknown as Admission), reason);
    });
});

describe('an event of a file', () => {
  const id = `${'0'.repeat(15)}1${'0'.repeat(16)}`;
  const event = (spec: object = {}, metadata: object = {}) => ({
    metadata: meta(`t-${id.slice(0, 16)}`, {
      labels: { 'minik8s.io/trigger': 't' },
      ownerReferences: [owner as never],
      ...metadata,
    }),
    spec: {
      ...{ trigger: 't', id, type: 'minik8s.io/file.created', source: '/folders/in' },
      ...{ depth: 0, replays: 0, data: { node: 'n1', path: 'a' } },
      ...spec,
    },
  });
  const why = (
    objects: readonly object[],
    object: object | undefined,
    over: object = {},
    late: object[] = [],
  ) => {
    const { access, asked } = world(objects, late);
    const restriction = access.restrictions?.['minik8s.io/triggerevents'] ?? assert.fail();
    assert.equal(restriction.checksOwners, true);
    const admission = { operation: 'create', subresource: '', object, ...over } as unknown as Admission;
    return Promise.resolve(restriction.check('n1', admission)).then((reason) => ({ reason, asked: asked() }));
  };
  const own = [watch('other', 'n1', { source: '/folders/out' }), watch('own', 'n1')];

  for (const [what, made] of [
    ['created', event()],
    ['deleted', event({ type: 'minik8s.io/file.deleted' })],
  ] as const)
    it(`that was ${what} is stored without a read of the store`, async () => {
      assert.deepEqual(await why(own, made), { reason: undefined, asked: 0 });
    });
  it('of a watch that the cache shows late is stored, after the cache has caught up', async () => {
    assert.deepEqual(await why([], event(), {}, own), { reason: undefined, asked: 1 });
  });
  const noWatch = (source: string, trigger: string) =>
    `node "n1" watches no folder "${source}" for trigger "${trigger}"`;
  const name =
    "an event of a file: its id must have 32 hexadecimal digits, and its name must end with the first sixteen of them, after the trigger's name";
  const whole = 'an event of a file: its depth and its replays must be 0, and it must not have a chain';
  for (const [what, made, reason] of [
    ['of another folder', event({ source: '/folders/etc' }), noWatch('/folders/etc', 't')],
    ['of another trigger', event({ trigger: 'u' }), noWatch('/folders/in', 'u')],
    ['of another namespace', event({}, { namespace: 'other' }), noWatch('/folders/in', 't')],
    ['with an id that is too short', event({ id: id.slice(1) }, { name: `t-${id.slice(1, 17)}` }), name],
    ['with an id in capitals', event({ id: 'A'.repeat(32) }, { name: `t-${'A'.repeat(16)}` }), name],
    ['with another name', event({}, { name: 'mine' }), name],
    [
      'without a label',
      event({}, { labels: undefined }),
      'an event of a file: its label must be that of the trigger',
    ],
    [
      'with one more label',
      event({}, { labels: { 'minik8s.io/trigger': 't', a: 'b' } }),
      'an event of a file: its label must be that of the trigger',
    ],
    [
      'with annotations',
      event({}, { annotations: {} }),
      'an event of a file: it must not have annotations or finalizers',
    ],
    [
      'with finalizers',
      event({}, { finalizers: [] }),
      'an event of a file: it must not have annotations or finalizers',
    ],
    [
      'without an owner',
      event({}, { ownerReferences: [] }),
      'an event of a file: its owner must be the trigger',
    ],
    [
      'of a type that the trigger does not watch for',
      event({ type: 'minik8s.io/file.updated' }),
      'an event of a file: its type must be one of minik8s.io/file.created, minik8s.io/file.deleted',
    ],
    ['with a depth', event({ depth: 1 }), whole],
    ['with replays', event({ replays: 1 }), whole],
    ['with a chain', event({ chain: [] }), whole],
    [
      'of another node',
      event({ data: { node: 'n2' } }),
      'an event of a file: data.node must be the name of the node',
    ],
    ['without a node', event({ data: 'n1' }), 'an event of a file: data.node must be the name of the node'],
    [
      'without data',
      event({ data: undefined }),
      'an event of a file: data.node must be the name of the node',
    ],
  ] as const)
    it(`${what} is refused`, async () => assert.equal((await why(own, made)).reason, reason));
  it('is refused if another node watches the folder', async () => {
    const { reason } = await why([watch('w', 'n2')], event());
    assert.equal(reason, noWatch('/folders/in', 't'));
  });
  it('can only be created', async () => {
    const reason = 'node "n1" may only create events of triggers';
    for (const over of [{ operation: 'update' }, { subresource: 'status' }, { object: undefined }])
      assert.equal((await why(own, event(), over)).reason, reason);
  });
  it('is rejected for now while a thousand wait', async () => {
    const many = (count: number) => Array.from({ length: count }, () => waiting);
    await assert.rejects(why([...own, ...many(1000)], event()), ({ status }: StatusError) => {
      assert.deepEqual(
        [status.code, status.message],
        [429, '1000 events of the trigger wait to be delivered already'],
      );
      return true;
    });
    assert.equal((await why([...own, ...many(999)], event())).reason, undefined);
  });
});
