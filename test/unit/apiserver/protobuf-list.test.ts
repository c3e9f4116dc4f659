/** A long list in protobuf is made in turns of the same size, from the first to the last. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { kubernetesMessages } from '../../../src/api/message-table.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { protobufList } from '../../../src/apiserver/negotiation/protobuf.ts';
import type { RequestScope } from '../../../src/apiserver/request-scope.ts';

test('each turn of a list takes 64 KiB', async () => {
  // Six of them are a little less than a turn may take, and seven more.
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { a: 'x'.repeat(10_000) },
  } as unknown as KubeObject;
  let [made, turns] = [0, 0];
  const turnsAt: number[] = [];
  const scope = {
    served: configMapResource,
    form: { encoding: 'protobuf', type: 'object' },
    signal: new AbortController().signal,
    server: {
      messages: kubernetesMessages,
      turns: {
        async next() {
          turns++;
          turnsAt.push(made);
        },
      },
    },
  } as unknown as RequestScope;
  const items = function* () {
    for (made = 1; made <= 100; made++) yield { object };
  };
  const bytes = await protobufList(scope, { resourceVersion: '1' }, items());
  assert.ok(bytes.length > 1_000_000);
  assert.equal(turns, 14);
  assert.deepEqual(turnsAt, [7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77, 84, 91, 98]);
});
