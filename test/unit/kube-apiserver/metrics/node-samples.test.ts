/**
 * Requests to agents for the usage of their nodes: how many at a time, their timeout, and the maximum answer.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { NodeSamples } from '../../../../src/kube-apiserver/metrics/node-samples.ts';
import { type NodeSample, sampleOf, usagePath } from '../../../../src/kube-apiserver/metrics/sample.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';

const time = '2026-01-01T00:00:00Z';
const use = (cpu: number) => ({
  cpu: { time, usageNanoCores: cpu },
  memory: { time, workingSetBytes: 1024 },
});
const summary = (cpu = 1) => JSON.stringify({ node: use(cpu), pods: [] });

let clock: FakeClock;
let log: RecordingLogger;
let asked: string[];
let answer: (node: string, signal: AbortSignal) => Promise<Response>;
let samples: NodeSamples<NodeSample>;
beforeEach(async () => {
  [clock, log, asked] = [new FakeClock(), new RecordingLogger(), []];
  answer = async () => new Response(summary());
  samples = new NodeSamples({
    ...{ clock, log, path: usagePath, parse: sampleOf },
    connection: (node, _path, signal) => {
      asked.push(node);
      return answer(node, signal);
    },
  });
  await clock.advance(100_000);
});
const names = async (...nodes: string[]) => [...(await samples.of(nodes)).keys()];
const why = () => log.of('debug').map(({ fields }) => fields.error);

describe('the samples of nodes', () => {
  it('are read once for all requests of two seconds', async () => {
    assert.deepEqual(await names('a', 'a'), ['a']);
    assert.equal(clock.pending, 0, 'nothing waits on for one that has answered');
    await clock.advance(1_500);
    assert.deepEqual(await names('b', 'a'), ['b', 'a']);
    assert.deepEqual(asked, ['a', 'b']);
    await clock.advance(500);
    assert.deepEqual(await names('a', 'b'), ['a', 'b']);
    assert.deepEqual(asked, ['a', 'b', 'a']);
  });

  it('are read from 32 nodes at a time, even if some do not answer', async () => {
    const nodes = Array.from({ length: 70 }, (_, n) => `n${n}`);
    for (let round = 0; round < 2; round++) {
      const open: (() => void)[] = [];
      let [running, most] = [0, 0];
      answer = async (node) => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => open.push(resolve));
        running--;
        if (node.endsWith('5')) throw new Error('no');
        return new Response(summary());
      };
      asked = [];
      const found = names(...nodes);
      await clock.settle();
      assert.equal(asked.length, 32);
      open.shift()?.();
      await clock.settle();
      assert.equal(asked.length, 33);
      while (asked.length < nodes.length || open.length > 0) {
        open.shift()?.();
        await clock.settle();
      }
      assert.deepEqual([(await found).length, most], [63, 32]);
      await clock.advance(10_000);
    }
  });

  it('are left out for nodes that do not answer within five seconds', async () => {
    answer = (node, signal) =>
      node === 'a'
        ? Promise.resolve(new Response(summary()))
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    let found: string[] | undefined;
    void names('a', 'b').then((some) => {
      found = some;
    });
    await clock.advance(4_999);
    assert.equal(found, undefined);
    await clock.advance(1);
    assert.deepEqual([found, why()], [['a'], ['no answer for 5000 ms']]);
  });

  it('are left out for nodes that answer with a failure', async () => {
    answer = async () => new Response(summary(), { status: 503 });
    assert.deepEqual([await names('a'), why()], [[], ['it answered 503']]);
  });

  it('are left out for nodes that cannot be reached', async () => {
    samples = new NodeSamples({ ...{ clock, log, path: usagePath, parse: sampleOf }, connection: undefined });
    assert.deepEqual([await names('a'), why()], [[], ['this server has no connection to nodes']]);
  });

  it('have at most 4 MiB, in any number of parts', async () => {
    const most = 4 * 2 ** 20;
    const said = (length: number) => {
      const text = summary().padEnd(length);
      const parts = [text.slice(0, 1000), text.slice(1000, length - 1000), text.slice(length - 1000)];
      return new Response(ReadableStream.from(parts.map((part) => Buffer.from(part))));
    };
    answer = async (node) => said(node === 'a' ? most : most + 1);
    assert.deepEqual(await names('a', 'b'), ['a']);
    assert.deepEqual(why(), [`it answered more than ${most} bytes`]);
  });

  it('are read again a second later if they have no rates yet', async () => {
    answer = async () => new Response(JSON.stringify({ pods: [] }));
    const found = samples.of(['a']);
    await clock.advance(999);
    assert.equal(asked.length, 1);
    await clock.advance(1);
    assert.equal((await found).get('a')?.node, undefined);
    assert.equal(asked.length, 2);
  });
});
