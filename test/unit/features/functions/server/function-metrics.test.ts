/** Metrics about calls of functions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { Registry } from '../../../../../src/base/metrics/registry.ts';
import type { FunctionCalls } from '../../../../../src/features/functions/server/function-calls.ts';
import { codeOf, FunctionMetrics } from '../../../../../src/features/functions/server/function-metrics.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const callsOf = (name: string, size: number, busy = 0, waiting = 0) =>
  ({
    function: { metadata: { namespace: 'ns', name } },
    instances: { size, busy },
    waiting,
  }) as unknown as FunctionCalls;

function world(called: readonly FunctionCalls[] = []) {
  const [registry, clock] = [new Registry(), new FakeClock()];
  const metrics = new FunctionMetrics(registry, clock, () => called);
  const lines = (name: string) =>
    [...registry.pieces()]
      .join('')
      .split('\n')
      .filter((line) => line.startsWith(`minik8s_function_${name}{`))
      .map((line) => line.slice(`minik8s_function_${name}`.length));
  return { metrics, clock, lines, page: () => [...registry.pieces()].join('') };
}

describe('calls of a function', () => {
  it('are counted once by their code, with their duration and the time without an instance', () => {
    const { metrics, clock, lines } = world();
    const warm = metrics.begin(callsOf('f', 1));
    const cold = metrics.begin(callsOf('f', 0));
    clock.spend(500);
    warm(200);
    clock.spend(1000);
    cold(502);
    metrics.begin(callsOf('g', 1))(200);
    const [f, g] = ['{namespace="ns",function="f"', '{namespace="ns",function="g"'];
    assert.deepEqual(lines('calls_total'), [
      `${f},code="200"} 1`,
      `${f},code="502"} 1`,
      `${g},code="200"} 1`,
    ]);
    assert.deepEqual(lines('cold_starts_total'), [`${f}} 1`, `${g}} 0`]);
    assert.deepEqual(lines('call_duration_seconds_sum'), [`${f}} 2`, `${g}} 0`]);
    assert.deepEqual(lines('call_duration_seconds_count'), [`${f}} 2`, `${g}} 1`]);
  });

  it('are in buckets from a millisecond to five minutes, and each family has a help text', () => {
    const { metrics, lines, page } = world([callsOf('f', 2, 1)]);
    metrics.begin(callsOf('f', 1))(200);
    const buckets = lines('call_duration_seconds_bucket').map((line) => /le="([^"]+)"/.exec(line)?.[1]);
    assert.deepEqual(buckets, [
      ...['0.001', '0.0025', '0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5'],
      ...['10', '30', '60', '300', '+Inf'],
    ]);
    const help = page().matchAll(/^# HELP minik8s_function_(\S+) (.*)$/gm);
    const said = new Map([...help].map(([, name = '', text = '']) => [name, text]));
    assert.ok(said.size >= 4, [...said.keys()].join());
    for (const [name, text] of said) assert.ok(text.length > 20, name);
    assert.doesNotMatch(page(), /^# HELP \S+ ?$/m);
    const types = [...page().matchAll(/^# TYPE minik8s_function_(\S+) (\S*)$/gm)].map(([, name, type]) => [
      name,
      type,
    ]);
    assert.deepEqual(Object.fromEntries(types), {
      ...{ calls_total: 'counter', cold_starts_total: 'counter', call_duration_seconds: 'histogram' },
      ...{ calls_waiting: 'gauge', instances: 'gauge' },
    });
  });

  it('are dropped with their function, and the metrics of other functions are kept', () => {
    const { metrics, lines } = world();
    for (const name of ['f', 'g']) metrics.begin(callsOf(name, 1))(200);
    metrics.forget('ns', 'f');
    assert.deepEqual(lines('calls_total'), ['{namespace="ns",function="g",code="200"} 1']);
  });

  it('in the queue, and busy and free instances, have their current values when the page is read', () => {
    const { lines } = world([callsOf('f', 5, 2, 7)]);
    assert.deepEqual(lines('calls_waiting'), ['{namespace="ns",function="f"} 7']);
    assert.deepEqual(lines('instances'), [
      '{namespace="ns",function="f",state="busy"} 2',
      '{namespace="ns",function="f",state="free"} 3',
    ]);
  });

  it('have the code of their Status, 499 if the caller has disconnected, and 500 for any other failure', () => {
    const codes = [
      newStatusError('Conflict', 'no'),
      new DOMException('left', 'AbortError'),
      new DOMException('slow', 'TimeoutError'),
      new Error('no'),
      Object.assign(new Error('no'), { name: 'AbortError' }),
    ].map(codeOf);
    assert.deepEqual(codes, [409, 499, 500, 500, 500]);
  });
});
