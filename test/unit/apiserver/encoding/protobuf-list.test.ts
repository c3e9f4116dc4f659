/** A long list in protobuf is encoded in turns of the same size, from the first to the last. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { kubernetesMessages } from '../../../../src/api/message-table.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { decodeMessage } from '../../../../src/apimachinery/protobuf/decode-message.ts';
import { eachField, WireReader } from '../../../../src/apimachinery/protobuf/reader.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import type { Listing } from '../../../../src/apiserver/encoding/encoder.ts';
import { createEncoders } from '../../../../src/apiserver/encoding/encoders.ts';

test('each turn of a list takes 64 KiB', async () => {
  // Six objects are slightly smaller than a turn, and seven are larger.
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { a: 'x'.repeat(10_000) },
  } as unknown as KubeObject;
  let [made, turns] = [0, 0];
  const turnsAt: number[] = [];
  const listing = {
    headers: {},
    signal: new AbortController().signal,
    server: {
      turns: {
        async next() {
          turns++;
          turnsAt.push(made);
        },
      },
    },
  } as unknown as Listing;
  const items = Array.from({ length: 100 }, () => ({
    get object() {
      made++;
      return object;
    },
  }));
  const encoder = createEncoders(kubernetesMessages, () => 0).of(
    configMapResource as unknown as ResourceDefinition,
    { type: 'object', encoding: 'protobuf' },
    () => 'None',
  );
  const answer = await encoder.list(listing, { resourceVersion: '1' }, items);
  assert.ok((await answer.arrayBuffer()).byteLength > 1_000_000);
  assert.equal(turns, 14);
  assert.deepEqual(turnsAt, [7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77, 84, 91, 98]);
});

test('a list of any size is complete and correct, in one piece or in several', async () => {
  const type = kubernetesMessages.typeOf('core.v1.ConfigMap') ?? assert.fail();
  const encoder = createEncoders(kubernetesMessages, () => 0).of(
    configMapResource as unknown as ResourceDefinition,
    { type: 'object', encoding: 'protobuf' },
    () => 'None',
  );
  const listing = {
    headers: {},
    signal: new AbortController().signal,
    server: { turns: { next: async () => {} } },
  } as unknown as Listing;
  // The first object fills nearly a piece; small ones are on both sides of its end.
  for (let left = 0; left < 300; left += 7) {
    const texts = ['x'.repeat(65_536 - left), ...Array.from({ length: 20 }, (_, i) => `${i}`)];
    const objects = texts.map((a) => ({ metadata: {}, data: { a } }) as unknown as KubeObject);
    const items = objects.map((object) => ({ object }));
    const answer = await encoder.list(listing, { resourceVersion: '1' }, items);
    assert.equal(answer.headers.get('connection'), null);
    const found: string[] = [];
    eachField(new WireReader(new Uint8Array(await answer.arrayBuffer()).subarray(4)), {
      2: (reader, wire) =>
        eachField(reader.within(wire), {
          2: (inner, innerWire) => {
            const { data } = decodeMessage(inner.bytes(innerWire), type) as { data: { a: string } };
            found.push(data.a);
          },
        }),
    });
    assert.deepEqual(found, texts, String(left));
  }
  const many = Array.from({ length: 30 }, () => ({
    object: { metadata: {}, data: { a: 'x'.repeat(10_000) } } as unknown as KubeObject,
  }));
  const long = await encoder.list(listing, { resourceVersion: '1' }, many);
  assert.equal(long.headers.get('connection'), 'close');
});
