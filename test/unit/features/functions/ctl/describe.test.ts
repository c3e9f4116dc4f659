import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../../src/apimachinery/equality.ts';
import { descriptionText } from '../../../../../src/cli/describe/describe-object.ts';
import { functionDescriber } from '../../../../../src/features/functions/ctl/describe.ts';

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
  assert.match(text, /^Build: +BuildFailed on node n1; ctl function logs hello --build prints its log$/m);
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

test('instances that the user may not list are named as such', () => {
  const instances = { items: [], refused: '<not authorized: pods>' };
  assert.match(textOf(hello, { instances }), /^Instances: +<not authorized: pods>$/m);
});
