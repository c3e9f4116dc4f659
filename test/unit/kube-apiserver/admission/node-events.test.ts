/** Events that a node may write: its own, about itself and about pods that are or were bound to it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import type { ServerContext } from '../../../../src/apiserver/server-context.ts';
import { maxEventBytes, restrictEvent } from '../../../../src/kube-apiserver/admission/node-events.ts';
import { merge } from '../../../fixtures/kinds.ts';
import { pod } from '../../controllers/objects.ts';

const notSource = 'node "n1" is not the source of this event';
const notOwn = 'node "n1" may only report about itself and its pods';
const event = (over: object = {}) =>
  merge(
    {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'own', uid: 'uid-own' },
      source: { host: 'n1' },
    },
    over,
  );
const about = (over: object) => event({ involvedObject: over });
/**
 * Events about the removed pod `gone`, about a removed pod by another node, about an object that is not a
 * pod, and about a removed pod with a longer name.
 */
const told = [
  ['gone.1', about({ name: 'gone', uid: 'uid-gone' })],
  ['lost.1', event({ involvedObject: { name: 'lost', uid: 'uid-lost' }, source: { host: 'n2' } })],
  ['thing.1', about({ kind: 'Node', name: 'thing', uid: 'uid-thing' })],
  ['goner.1', about({ name: 'goner', uid: 'uid-goner' })],
] as const;

function serverOf(late: boolean) {
  const asked = { latest: 0 };
  const pods = new Map(
    [pod('own', { spec: { nodeName: 'n1' } }), pod('other', { spec: { nodeName: 'n2' } })].map((object) => [
      `/registry/pods/default/${object.metadata.name}`,
      object,
    ]),
  );
  const server = {
    cache: {
      revision: 1,
      get: (key: string) =>
        late && asked.latest === 0 ? undefined : pods.has(key) && { object: pods.get(key) },
      list: (prefix: string) =>
        told
          .filter(([name]) => `/registry/events/default/${name}`.startsWith(prefix))
          .map(([, object]) => ({ object })),
    },
    store: { get: async () => undefined },
    latest: {
      async ask() {
        asked.latest++;
        return 1;
      },
    },
  } as unknown as ServerContext;
  return { server, asked };
}
async function refusal(object: unknown, old?: unknown, late = false) {
  const { server, asked } = serverOf(late);
  const admission = { ...(object !== undefined && { object }), ...(old !== undefined && { old }) };
  return [await restrictEvent(server, 'n1', admission as unknown as Admission), asked.latest];
}

describe('an event', () => {
  for (const [title, object, why, asked] of [
    ['about its pod', event(), undefined, 0],
    ['about its pod, by name alone', about({ uid: null }), undefined, 0],
    ['about itself', about({ kind: 'Node', name: 'n1', namespace: null }), undefined, 0],
    ['about another node', about({ kind: 'Node', name: 'n2' }), notOwn, 0],
    ['about a node without a name', about({ kind: 'Node', name: null }), notOwn, 0],
    ['about a Service', about({ kind: 'Service' }), notOwn, 0],
    ['about a pod of another node', about({ name: 'other', uid: 'uid-other' }), notOwn, 1],
    ['about another pod with the name of its pod', about({ uid: 'uid-else' }), notOwn, 1],
    ['about a pod without a namespace', about({ namespace: null }), notOwn, 1],
    ['about a pod without a name', about({ name: null }), notOwn, 1],
    [
      'about a deleted pod that the node reported about before',
      about({ name: 'gone', uid: 'uid-gone' }),
      undefined,
      0,
    ],
    [
      'about another pod with the name of that deleted pod',
      about({ name: 'gone', uid: 'uid-else' }),
      notOwn,
      1,
    ],
    ['about any pod with the name of that deleted pod', about({ name: 'gone', uid: null }), notOwn, 1],
    [
      'about a deleted pod that another node reported about',
      about({ name: 'lost', uid: 'uid-lost' }),
      notOwn,
      1,
    ],
    ['about a deleted object that was not a pod', about({ name: 'thing', uid: 'uid-thing' }), notOwn, 1],
    [
      "about a pod whose name is a prefix of that deleted pod's",
      about({ name: 'go', uid: 'uid-gone' }),
      notOwn,
      1,
    ],
    ['by another', event({ source: { host: 'n2' } }), notSource, 0],
    ['by nobody', event({ source: { host: null } }), notSource, 0],
    ['with another reportingInstance', event({ reportingInstance: 'n2' }), notSource, 0],
    ['with its own reportingInstance', event({ reportingInstance: 'n1' }), undefined, 0],
  ] as const)
    test(`${title} is ${why === undefined ? 'accepted' : `rejected: ${why}`}`, async () => {
      assert.deepEqual(await refusal(object), [why, asked]);
      // The stored event must also be the node's own: a node does not take over events of others.
      assert.deepEqual((await refusal(event(), object))[0], why);
    });

  test('may be removed if it is the node’s own', async () => {
    assert.deepEqual(await refusal(undefined, event()), [undefined, 0]);
    assert.deepEqual(await refusal(undefined, event({ source: { host: 'n2' } })), [notSource, 0]);
  });

  test('about a pod that was bound a moment ago is checked when the cache shows the pod', async () => {
    assert.deepEqual(await refusal(event(), undefined, true), [undefined, 1]);
  });

  test('may have at most 8 KiB, even if it was larger before', async () => {
    assert.equal(maxEventBytes, 8192);
    const sized = (bytes: number) => {
      const rest = Buffer.byteLength(JSON.stringify(event({ message: '' })));
      const long = (bytes - rest) % 3;
      return event({ message: '€'.repeat((bytes - rest - long) / 3) + 'x'.repeat(long) });
    };
    assert.deepEqual(await refusal(sized(8192), sized(8193)), [undefined, 0]);
    const [why] = await refusal(sized(8193));
    assert.equal(why, 'an event that a node writes may have at most 8192 bytes: shorten its message');
  });
});
