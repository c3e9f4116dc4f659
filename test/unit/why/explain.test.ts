/** The choice between several causes of one state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain } from '../../../src/why/explain.ts';
import type { Severity } from '../../../src/why/rule.ts';
import { RuleBook } from '../../../src/why/rule-book.ts';
import { Snapshot } from '../../../src/why/snapshot.ts';
import { about, now, object, pod } from './why-objects.ts';

const told = { symptom: 'S.', cause: 'C.', advice: 'A.' };

function lastOf(...severities: readonly Severity[]): string | undefined {
  const pods = severities.map((_, index) => pod(`web-${index}`));
  const book = new RuleBook({
    workload: {
      ...{ ...told, kinds: ['replicasets.apps'] },
      find: () => ({
        ...{ severity: 'degraded', says: 'too few pods' },
        because: pods.map((_, index) => about('pods', `web-${index}`)),
      }),
    },
    one: {
      ...{ ...told, kinds: ['pods'] },
      find(found) {
        const index = pods.indexOf(found);
        return { severity: severities[index] ?? 'broken', says: `pod ${index}` };
      },
    },
  });
  const objects = { 'replicasets.apps': [object('ReplicaSet', 'web')], pods };
  const chain = explain(
    new Snapshot({ nowMs: Date.parse(now), objects }),
    about('replicasets.apps', 'web'),
    book,
  );
  return chain.at(-1)?.finding.says;
}

test('an explanation follows the first cause with a fault', () => {
  assert.equal(lastOf('waiting', 'waiting', 'broken', 'degraded'), 'pod 2');
});

test('an explanation follows the first cause if all of them wait', () => {
  assert.equal(lastOf('waiting', 'waiting'), 'pod 0');
});

test('an explanation does not examine thousands of causes that wait', () => {
  const many = Array.from({ length: 5_000 }, (): Severity => 'waiting');
  assert.equal(lastOf(...many, 'broken'), 'pod 0');
});
