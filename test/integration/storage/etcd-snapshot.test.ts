/** Snapshots of a member, and their end when they are not wanted any more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { openRpc } from '../../../src/storage/etcd.ts';
import { RpcError } from '../../../src/storage/etcd-rpc.ts';
import { eventually, until } from '../../fixtures/eventually.ts';
import { beginAt, WireWorld } from './wire-world.ts';

for (const when of ['before it begins', 'while etcd sends nothing'])
  test(`a snapshot fails when its signal aborts ${when}`, async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    // A member that does not answer.
    wire.answer = () => new Promise<never>(() => undefined);
    const rpc = await openRpc({
      endpoints: [`unix:${world.path('0')}`],
      log: silentLogger,
      clock: world.network,
      random: beginAt(0),
    });
    world.stack.defer(() => rpc.close());
    const [member = assert.fail()] = rpc.members;
    const abort = new AbortController();
    if (when === 'before it begins') abort.abort();
    let failure: unknown;
    Array.fromAsync(member.snapshot(abort.signal)).catch((error: unknown) => {
      failure = error instanceof RpcError ? error.failure : error;
    });
    if (!abort.signal.aborted) {
      await until(() => wire.named('Snapshot').length === 1);
      abort.abort();
    }
    await eventually(systemClock, 'the end of the snapshot', () => failure);
    assert.equal(failure, 'unanswered');
  });
