/** Expressions of workflows that are parsed on the main thread or on another, and their limits. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { Admission } from '../../../../../src/apiserver/admission/plugin.ts';
import { workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { workflowExpressions } from '../../../../../src/features/workflows/server/workflow-expressions.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { meta } from '../../../controllers/objects.ts';

const workflow = (...texts: readonly string[]) => {
  const Output = Object.fromEntries(texts.map((text, index) => [`e${index}`, `{% ${text} %}`]));
  const definition = {
    ...{ QueryLanguage: 'JSONata', StartAt: 'A' },
    States: { A: { Type: 'Pass', End: true, Output } },
  };
  return { kind: 'Workflow', metadata: meta('w'), spec: { definition } };
};
const times = (count: number, text: string) => Array.from({ length: count }, () => text);

function world() {
  const clock = new FakeClock();
  const plugin = workflowExpressions(clock);
  /** Returns the code and the fields of a rejection, or `allowed`. */
  const write = async (object: object | undefined, over: object = {}) => {
    const request = { definition: workflowResource, namespace: 'default', name: 'w', subresource: '' };
    try {
      await plugin.validate?.({ ...request, object, ...over } as unknown as Admission);
      return 'allowed';
    } catch (error) {
      const { status } = error as StatusError;
      const fields =
        status.details?.causes?.map(({ field, reason, message }) =>
          reason === 'FieldValueForbidden'
            ? `${reason} ${field}: ${message?.replace(/^Forbidden: /, '')}`
            : `${reason} ${field}`,
        ) ?? [];
      return [status.code, ...fields].join(' ');
    }
  };
  return { clock, plugin, write };
}

const invalid = '422 FieldValueInvalid spec.definition.States.A.Output.e0';

describe('the expressions of a workflow', () => {
  it('are allowed if they are valid, and rejected each with its field otherwise', async () => {
    const { write, plugin } = world();
    assert.equal(plugin.name, 'WorkflowExpressions');
    assert.equal(await write(workflow('1 + 1', '$sum([1, 2])')), 'allowed');
    assert.equal(await write(workflow('1 +')), invalid);
    assert.equal(
      await write(workflow('1', '1 +', '2', '$sum(')),
      '422 FieldValueInvalid spec.definition.States.A.Output.e1 FieldValueInvalid spec.definition.States.A.Output.e3',
    );
  });
  it('are parsed again only when the definition changes', async () => {
    const { write } = world();
    const bad = workflow('1 +');
    assert.equal(await write(bad, { old: workflow('1 +') }), 'allowed', 'it was stored by an older server');
    assert.equal(await write(bad, { old: workflow('1') }), invalid);
  });
  it('are the expressions of workflows in the object itself', async () => {
    const { write } = world();
    const bad = workflow('1 +');
    assert.equal(await write(bad, { subresource: 'status' }), 'allowed');
    assert.equal(await write(undefined, { old: bad }), 'allowed');
    for (const definition of [
      { group: 'other.io', plural: 'workflows' },
      { group: 'minik8s.io', plural: 'others' },
    ])
      assert.equal(await write(bad, { definition }), 'allowed');
  });
});

/** Returns whether another thread parses the expressions: only then is the answer not there at once. */
async function isOnThread(texts: readonly string[]): Promise<boolean> {
  const { write } = world();
  const answer = write(workflow(...texts));
  let isThere = false;
  answer.then(
    () => {
      isThere = true;
    },
    () => undefined,
  );
  for (let turn = 0; turn < 20; turn++) await undefined;
  const wasThere = isThere;
  assert.equal(await answer, 'allowed');
  return !wasThere;
}

describe('another thread', () => {
  // With the spaces around them, which belong to the text.
  const long = (length: number) => `"${'x'.repeat(length - 2)}"`;
  for (const [what, texts, expected] of [
    ['64 expressions', times(64, '1'), false],
    ['65 expressions', times(65, '1'), true],
    ['an expression of 500 characters', [long(500)], false],
    ['an expression of 513 characters', [long(513)], true],
    ['4,000 characters in total', times(8, long(498)), false],
    ['more than 4,096 characters in total', times(9, long(500)), true],
  ] as const)
    it(`${expected ? 'parses' : 'does not parse'} ${what}`, async () =>
      assert.equal(await isOnThread(texts), expected));

  it('parses invalid expressions too, and their fields are reported', async () => {
    const { write } = world();
    assert.equal(await write(workflow('1 +', ...times(100, '1'))), invalid);
  });
  it('parses at most eight definitions of a namespace at once, and those of other namespaces at the same time', async () => {
    const { write } = world();
    const many = workflow(...times(100, '1'));
    const eight = times(8, '').map(() => write(many));
    assert.equal(await write(many), '429');
    assert.equal(await write(workflow('1')), 'allowed', 'a small one does not wait');
    assert.equal(await write(many, { namespace: 'other' }), 'allowed');
    assert.deepEqual(await Promise.all(eight), times(8, 'allowed'));
    const again = times(8, '').map(() => write(many));
    assert.equal(await write(many), '429');
    assert.deepEqual(await Promise.all(again), times(8, 'allowed'), 'each has left when it was read');
  });
  it('parses for six seconds at most, and then the definition is rejected', async () => {
    const { write, clock } = world();
    const answer = write(workflow(...times(100, '1')));
    for (let turn = 0; turn < 20; turn++) await undefined;
    await clock.advance(6000);
    assert.match(await answer, /^422 FieldValueForbidden spec.definition: its expressions cannot be read: ./);
    assert.equal(await write(workflow(...times(100, '1'))), 'allowed', 'the next one has another thread');
  });
  it('accepts no ninth definition of a namespace, which is rejected with the time of the next attempt', async () => {
    const { plugin } = world();
    const admission = { definition: workflowResource, namespace: 'default', name: 'w', subresource: '' };
    const write = async () =>
      plugin.validate?.({ ...admission, object: workflow(...times(100, '1')) } as unknown as Admission);
    const eight = times(8, '').map(write);
    await assert.rejects(write(), ({ status }: StatusError) => {
      assert.deepEqual(
        [status.details?.retryAfterSeconds, status.message],
        [5, '8 definitions of workflows of the namespace are being read already'],
      );
      return true;
    });
    await Promise.all(eight);
  });
});
