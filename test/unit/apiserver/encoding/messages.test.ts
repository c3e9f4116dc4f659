/** The message of a cached object is encoded once for all requests: a get, a list, a watch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { kubernetesMessages } from '../../../../src/api/message-table.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import type { Listing } from '../../../../src/apiserver/encoding/encoder.ts';
import { createEncoders } from '../../../../src/apiserver/encoding/encoders.ts';
import type { CachedObject, CacheEvent } from '../../../../src/storage/cache.ts';

const listing = { headers: {}, signal: new AbortController().signal, server: {} } as unknown as Listing;
const encoderFor = (encoders = createEncoders(kubernetesMessages, () => 0)) =>
  encoders.of(
    configMapResource as unknown as ResourceDefinition,
    { type: 'object', encoding: 'protobuf' },
    () => 'None',
  );

/** Returns an object that counts how often it is read. */
function counted(of: { readonly revision?: number }) {
  const found = {
    ...of,
    key: '/registry/configmaps/default/a',
    bytes: Buffer.alloc(0),
    reads: 0,
    get object(): KubeObject {
      found.reads++;
      return { metadata: { name: 'a' }, data: { text: 'x'.repeat(50) } } as unknown as KubeObject;
    },
  };
  return found;
}
const eventOf = (current: CachedObject): CacheEvent =>
  ({ type: 'ADDED', key: current.key, revision: current.revision, current }) as CacheEvent;

for (const [first, use] of [
  ['a get', (encoder, found) => encoder.object(found)],
  ['a list', (encoder, found) => encoder.list(listing, { resourceVersion: '7' }, [found])],
  ['an event', (encoder, found) => encoder.framing().unchanged(eventOf(found))],
  ['the beginning of a watch', (encoder, found) => encoder.framing().frame('ADDED', found, 7)],
] as [string, (encoder: ReturnType<typeof encoderFor>, found: CachedObject) => unknown][]) {
  test(`after ${first} all other requests use the encoded message`, async () => {
    const encoder = encoderFor();
    const found = counted({ revision: 7 }) as ReturnType<typeof counted> & CachedObject;
    await use(encoder, found);
    assert.equal(found.reads, 1);
    const all = async (by: ReturnType<typeof encoderFor>, of: CachedObject) => [
      by.object(of),
      new Uint8Array(await (await by.list(listing, { resourceVersion: '7' }, [of])).arrayBuffer()),
      by.framing().unchanged(eventOf(of)),
      by.framing().frame('ADDED', of, 7),
    ];
    const made = await all(encoder, found);
    assert.equal(found.reads, 1);
    const other = counted({ revision: 7 }) as ReturnType<typeof counted> & CachedObject;
    assert.deepEqual(made, await all(encoderFor(), other));
  });
}

test('an object outside the cache is not kept, and an event of another revision is encoded again', () => {
  const encoder = encoderFor();
  const fromStore = counted({});
  encoder.object(fromStore);
  encoder.object(fromStore);
  assert.equal(fromStore.reads, 2);
  const cached = counted({ revision: 7 }) as ReturnType<typeof counted> & CachedObject;
  encoder.framing().frame('DELETED', cached, 9);
  assert.ok(encoder.framing().frame('DELETED', cached, 9).includes('9'));
  assert.equal(cached.reads, 2);
});
