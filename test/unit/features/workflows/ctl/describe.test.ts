import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../../src/apimachinery/equality.ts';
import { descriptionText } from '../../../../../src/cli/describe/describe-object.ts';
import { workflowDescriber } from '../../../../../src/features/workflows/ctl/describe.ts';
import { runDescriber } from '../../../../../src/features/workflows/ctl/describe-run.ts';

const now = Date.UTC(2026, 0, 1, 0, 2);
const definition = {
  StartAt: 'check',
  States: {
    check: { Type: 'Choice', Choices: [{ Next: 'pay' }], Default: 'each' },
    pay: { Type: 'Task', Resource: 'function:pay', Next: 'each', Catch: [{ Next: 'fail' }] },
    each: {
      Type: 'Map',
      ItemProcessor: { StartAt: 'send', States: { send: { Type: 'Task', Resource: 'job:send', End: true } } },
      End: true,
    },
    fail: { Type: 'Fail' },
  },
};
const run = (name: string, at: string, status: JsonObject): JsonObject => ({
  metadata: { name, namespace: 'shop', creationTimestamp: at },
  spec: { workflow: 'order', input: { item: 7 } },
  status,
});
const failed = run('order-b', '2026-01-01T00:01:00Z', {
  ...{ phase: 'Failed', error: 'States.Timeout', cause: 'too slow\nstack', historyCount: 9 },
  ...{ startTime: '2026-01-01T00:01:00Z', completionTime: '2026-01-01T00:01:10Z' },
});

test('a Workflow shows its steps, with inner ones indented, and its last runs, the newest first', () => {
  const object = {
    metadata: { name: 'order', namespace: 'shop' },
    spec: { definition },
    status: { active: 1 },
  };
  const running = run('order-a', '2026-01-01T00:00:00Z', {
    phase: 'Running',
    startTime: '2026-01-01T00:00:00Z',
  });
  const text = descriptionText(workflowDescriber, object, {
    related: { runs: { items: [running, failed] } },
    events: undefined,
    now,
  });
  assert.match(text, /^ {2}check +Choice +<none> +pay, each$/m);
  assert.match(text, /^ {2}pay +Task +function:pay +each, fail on error$/m);
  assert.match(text, /^ {2}each +Map +<none> +<end>\n {4}send +Task +job:send +<end>$/m);
  assert.match(text, /^Active Runs: +1$/m);
  assert.match(
    text,
    /^ {2}order-b +Failed +60s +10s +States\.Timeout\n {2}order-a +Running +2m +2m +<none>$/m,
  );
});

test('a WorkflowRun shows its result, and its shortened input and output', () => {
  const object = { ...failed, spec: { workflow: 'order', input: 'x'.repeat(500) } };
  const text = descriptionText(runDescriber, object, { related: {}, events: undefined, now });
  assert.match(text, /^Phase: +Failed$/m);
  assert.match(text, /^Duration: +10s$/m);
  assert.match(text, /^Input: +"x{199}\.\.\.$/m);
  assert.match(text, /^Output: +<none>$/m);
  assert.match(text, /^Cause: +too slow$/m);
  assert.match(text, /^History: +9 entries; minik8s ctl workflow history prints them$/m);
});
