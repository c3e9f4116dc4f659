/** Order of what the agent does before it runs pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import {
  EngineConnection,
  type EngineConnectionOptions,
} from '../../../../src/kubelet/node/engine-connection.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

/** Agent whose engine, network and range do as the functions say; `done` lists what it did. */
function agentWith(prepare: () => Promise<void>) {
  const done: string[] = [];
  const range = Promise.withResolvers<string>();
  const clock = new FakeClock();
  const options = {
    runtime: {
      version: async () => ({ version: '28', apiVersion: '1.48' }),
      async prepare() {
        done.push('prepare');
        await prepare();
      },
      async *events() {
        done.push('events');
        yield* [];
        await new Promise(() => {});
      },
    },
    network: { setUp: async (cidr: string) => void done.push(`network ${cidr}`) },
    assigned: { podCIDR: undefined, podCIDRKnown: range.promise },
    node: { setProblem: (problem?: string) => void done.push(`problem ${problem}`) },
    workers: { pause() {} },
    engine: { report() {} },
    readPauseArchive: async () => new Uint8Array(),
    ...{ clock, log: silentLogger },
  } as unknown as EngineConnectionOptions;
  const stop = new AbortController();
  void new EngineConnection(options).run(stop.signal).catch(() => undefined);
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { done, range, clock, stop, turns };
}

describe('the connection to the engine', () => {
  it('lets the engine prepare while the node has no range yet, and follows events with a range', async () => {
    const { done, range, stop, turns } = agentWith(async () => {});
    await turns();
    const without = 'problem no podCIDR has been assigned to this node yet';
    assert.deepEqual(done, [without, 'prepare']);
    range.resolve('10.244.0.0/24');
    await turns();
    assert.deepEqual(done, [without, 'prepare', 'network 10.244.0.0/24', 'events']);
    stop.abort();
  });

  it('reports why the engine cannot prepare, and tries again', async () => {
    let attempts = 0;
    const { done, range, clock, stop, turns } = agentWith(async () => {
      if (++attempts === 1) throw new Error('no room for the image');
    });
    range.resolve('10.244.0.0/24');
    await turns();
    assert.equal(done.at(-1), 'problem no room for the image');
    await clock.advance(10_000);
    await turns();
    assert.equal(attempts, 2);
    assert.equal(done.at(-1), 'events');
    stop.abort();
  });
});
