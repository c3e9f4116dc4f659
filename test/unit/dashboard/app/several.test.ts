import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  countOutcomes,
  countsText,
  eachOfSeveral,
  mostUrgentFirst,
  type Outcome,
} from '../../../../src/dashboard/app/actions/plan/each-of-several.ts';
import { labelChanges, labelChangesText } from '../../../../src/dashboard/app/actions/plan/label-changes.ts';
import { namespacesOf, reviewedPlaces } from '../../../../src/dashboard/app/actions/plan/reviewed-places.ts';

const names = Array.from({ length: 9 }, (_, index) => `pod-${index}`);

/** Runs work on all names; returns the last outcome of each. */
async function outcomesOf(
  work: (name: string) => Promise<string>,
  signal = new AbortController().signal,
): Promise<(Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = names.map(() => undefined);
  const reasonOf = (error: unknown) => (error as Error).message;
  const report = (index: number, outcome: Outcome) => {
    outcomes[index] = outcome;
  };
  await eachOfSeveral(names, { work, reasonOf, report, signal });
  return outcomes;
}

describe('an action on several objects', () => {
  it('continues after failures, and reports the result of each object', async () => {
    const outcomes = await outcomesOf(async (name) => {
      if (name === 'pod-0' || name === 'pod-5') throw new Error(`${name} is forbidden`);
      return 'is deleted';
    });
    assert.deepEqual(outcomes[5], { state: 'failed', text: 'pod-5 is forbidden' });
    assert.deepEqual(outcomes[8], { state: 'done', text: 'is deleted' });
    assert.deepEqual(countOutcomes(outcomes as Outcome[]), { done: 7, failed: 2, left: 0 });
  });

  it('works on at most four objects at once', async () => {
    let running = 0;
    let most = 0;
    await outcomesOf(async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return '';
    });
    assert.equal(most, 4);
  });

  it('begins no further object once it is stopped', async () => {
    const abort = new AbortController();
    const outcomes = await outcomesOf(async (name) => {
      if (name === 'pod-1') abort.abort();
      return 'is deleted';
    }, abort.signal);
    assert.deepEqual(outcomes[1], { state: 'done', text: 'is deleted' });
    assert.equal(outcomes[8], undefined);
  });

  it('is summed up with its failures first', () => {
    const outcomes: readonly Outcome[] = [
      { state: 'done', text: '' },
      { state: 'waiting' },
      { state: 'failed', text: '' },
      { state: 'running' },
    ];
    assert.equal(countsText(countOutcomes(outcomes)), '1 done, 1 failed, 2 left');
    assert.equal(countsText({ done: 0, failed: 0, left: 0 }), '0 done');
    assert.deepEqual(mostUrgentFirst(outcomes), [2, 3, 1, 0]);
  });
});

describe('changes of labels', () => {
  it('are set and removed as by ctl label', () => {
    const changes = labelChanges(' tier=front  app.example.org/part=  old- ');
    assert.deepEqual(changes, { tier: 'front', 'app.example.org/part': '', old: null });
    assert.ok(typeof changes !== 'string');
    assert.equal(
      labelChangesText(changes),
      'is labeled tier=front, app.example.org/part=, and has no label old any more',
    );
  });

  const wrong: readonly [text: string, reason: RegExp][] = [
    ['', /at least one label/],
    ['tier', /tier has no value: write tier=VALUE, or tier- to remove it/],
    ['-', /- has no value/],
    ['a=1 a-', /label a is named twice/],
    ['a=b=c', /b=c/],
    ['=x', /name part must be non-empty/],
    ['a=<script>', /<script>/],
    [`a=${'x'.repeat(64)}`, /63/],
  ];
  for (const [text, reason] of wrong)
    it(`are rejected with a reason: ${text.slice(0, 20) || 'nothing'}`, () => {
      const changes = labelChanges(text);
      assert.ok(typeof changes === 'string');
      assert.match(changes, reason);
    });
});

describe('rights on several objects', () => {
  const places = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ namespace: `team-${index % 25}`, name: `pod-${index}` }));

  it('are requested for each of the namespaces', () => {
    const few = [...places(20), ...places(20), { name: 'node-1' }];
    assert.equal(reviewedPlaces(few), few);
    assert.equal(namespacesOf(few).length, 20);
  });

  it('are those in all namespaces if there are too many of them', () => {
    const many = [...places(21), {}];
    const reviewed = reviewedPlaces(many);
    assert.deepEqual(namespacesOf(reviewed), []);
    assert.deepEqual([reviewed.length, reviewed[20], reviewed[21]], [22, { name: 'pod-20' }, {}]);
  });
});
