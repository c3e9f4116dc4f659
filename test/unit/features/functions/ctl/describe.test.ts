import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../../src/apimachinery/equality.ts';
import { descriptionText } from '../../../../../src/cli/describe/describe-object.ts';
import { functionDescriber } from '../../../../../src/features/functions/ctl/describe.ts';
import { samplesWith } from '../../../../../src/views/metric-samples.ts';

const now = Date.UTC(2026, 0, 1);
const hello: JsonObject = {
  metadata: { name: 'hello', namespace: 'shop' },
  spec: {
    ...{ runtime: 'python', handler: 'main.handler', files: { 'main.py': 'x', 'lib.py': 'y' } },
    env: [{ name: 'PASSWORD', value: 'hunter2' }],
    ...{ timeoutSeconds: 30, concurrency: 10, minScale: 0, maxScale: 3, idleSeconds: 60 },
  },
  status: {
    ...{ latestVersion: 'hello-2', activeVersion: 'hello-1', replicas: 2, readyReplicas: 1 },
    demand: { m1: 2 },
    conditions: [
      { type: 'Ready', status: 'False', reason: 'BuildFailed', message: 'Traceback\nSyntaxError: line 3\n' },
    ],
  },
};
const version: JsonObject = {
  spec: { image: 'minik8s.function/shop/hello:abc' },
  status: { nodeName: 'n1', conditions: [{ type: 'Built', status: 'False', reason: 'BuildFailed' }] },
};
const pod: JsonObject = {
  metadata: { name: 'hello-x' },
  spec: { nodeName: 'n1' },
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        restartCount: 3,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 7 } },
      },
    ],
  },
};
const textOf = (object: JsonObject, related: Record<string, { items: JsonObject[]; refused?: string }>) =>
  descriptionText(functionDescriber, object, { related, events: { items: [] }, now });

test('a Function shows its image, its build, its instances and its last error', () => {
  const text = textOf(hello, { version: { items: [version] }, instances: { items: [pod] } });
  assert.match(text, /^Files: +lib\.py, main\.py$/m);
  assert.match(text, /^Image: +minik8s\.function\/shop\/hello:abc$/m);
  assert.match(text, /^Version Called: +hello-1$/m);
  assert.match(text, /^Version Of The Spec: +hello-2$/m);
  assert.match(
    text,
    /^Build: +BuildFailed on node n1; minik8s ctl function logs hello --build prints its log$/m,
  );
  assert.match(text, /^ {2}Instances: +2 \(1 can be called\)$/m);
  assert.match(text, /^ {2}URL: +POST \/apis\/minik8s\.io\/v1\/namespaces\/shop\/functions\/hello\/invoke$/m);
  assert.match(text, /^ {2}hello-x +n1 +CrashLoopBackOff +3$/m);
  assert.match(text, /^Last Error: +SyntaxError: line 3$/m);
  assert.match(text, /^Events: +<none>$/m);
});

test('a Function shows the names of its variables, never their values', () => {
  const text = textOf(hello, {});
  assert.match(text, /^Environment: +PASSWORD$/m);
  assert.doesNotMatch(text, /hunter2/);
});

test('the last error of a ready Function is that of an instance which ended', () => {
  const ready = { ...hello, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  assert.match(
    textOf(ready, { instances: { items: [pod] } }),
    /^Last Error: +hello-x ended with exit status 7$/m,
  );
  assert.match(textOf(ready, {}), /^Last Error: +<none>$/m);
});

test('the output reports that the user may not list instances', () => {
  const instances = { items: [], refused: '<not authorized: pods>' };
  assert.match(textOf(hello, { instances }), /^Instances: +<not authorized: pods>$/m);
});

const samples = samplesWith(
  [
    '# TYPE minik8s_function_calls_total counter',
    'minik8s_function_calls_total{namespace="shop",function="hello",code="200"} 98',
    'minik8s_function_calls_total{namespace="shop",function="hello",code="502"} 2',
    'minik8s_function_calls_total{namespace="shop",function="hello2",code="502"} 7',
    'minik8s_function_calls_total{namespace="other",function="hello",code="200"} 5',
    'minik8s_function_call_duration_seconds_bucket{namespace="shop",function="hello",le="0.005"} 60',
    'minik8s_function_call_duration_seconds_bucket{namespace="shop",function="hello",le="2.5"} 98',
    'minik8s_function_call_duration_seconds_bucket{namespace="shop",function="hello",le="+Inf"} 100',
    'minik8s_function_call_duration_seconds_sum{namespace="shop",function="hello"} 12.5',
    'minik8s_function_call_duration_seconds_count{namespace="shop",function="hello"} 100',
    'minik8s_function_cold_starts_total{namespace="shop",function="hello"} 3',
    'minik8s_function_calls_waiting{namespace="shop",function="hello"} 4',
  ].join('\n'),
  { namespace: 'shop', function: 'hello' },
);

test('the calls of a Function are counted, with failures, cold starts and latency', () => {
  const text = textOf(hello, { calls: { items: samples } });
  assert.match(text, /^ {2}Answered: +100 since the start of this master$/m);
  assert.match(text, /^ {2}Failed: +2 \(502: 2\)$/m);
  assert.match(text, /^ {2}Waiting: +4$/m);
  assert.match(text, /^ {2}Cold Starts: +3$/m);
  assert.match(text, /^ {2}Latency: +average 125ms, 50% within 5ms, 99% within any time$/m);
});

test('a Function that was never called has no latency, and a rejected request is shown', () => {
  assert.match(textOf(hello, { calls: { items: [] } }), /^ {2}Latency: +<none>$/m);
  const calls = { items: [], refused: '<not authorized: metrics>' };
  assert.match(textOf(hello, { calls }), /^ {2}Counts: +<not authorized: metrics>$/m);
});
