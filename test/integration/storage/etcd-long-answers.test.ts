/** The maximum length of an answer of etcd. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreRejectedError } from '../../../src/storage/store.ts';
import { Status } from '../../fixtures/etcd-wire.ts';
import { pair, WireWorld } from './wire-world.ts';

describe('an answer', () => {
  it('is read up to 64 MiB, and a longer one is rejected', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const store = await world.store();
    const most = 64 << 20;
    let length = most;
    wire.answer = () => ({ kvs: [pair('/r/a', Buffer.alloc(length))] });
    let besides = 0;
    await assert.rejects(store.get('/r/a'), ({ message }: Error) => {
      const [, sent] = /Received message larger than max \((\d+) vs 67108864\)$/.exec(message) ?? [];
      besides = Number(sent) - most;
      return true;
    });
    assert.ok(besides > 0 && besides < 100, `${besides} bytes`);
    length = most - besides;
    assert.equal((await store.get('/r/a'))?.value.length, length);
    length++;
    await assert.rejects(store.get('/r/a'), StoreRejectedError);
  });

  for (const [who, long] of [
    ['for the client', () => ({ kvs: [pair('/r/a', Buffer.alloc(64 << 20))], count: '1' })],
    [
      'for etcd to send',
      () => {
        throw new Status(8, 'grpc: trying to send message larger than max (2999999999 vs. 2147483647)');
      },
    ],
  ] as const) {
    it(`that is too long ${who} is requested in parts`, async () => {
      await using world = new WireWorld();
      const wire = await world.etcd();
      const store = await world.store();
      const limits: unknown[] = [];
      wire.answer = ({ request }) => {
        limits.push(request.limit);
        return limits.length === 1 ? long() : { kvs: [pair('/r/a', 'A')], count: '1' };
      };
      assert.equal((await store.list('/r/')).items.length, 1);
      assert.deepEqual(limits, ['100', '25']);
    });
  }
});
