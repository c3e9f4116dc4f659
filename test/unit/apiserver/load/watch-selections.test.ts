import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { parseListQuery } from '../../../../src/apimachinery/list-options.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { WatchSelections } from '../../../../src/apiserver/load/watch-selections.ts';
import { type Keyed, selectionOf } from '../../../../src/apiserver/reads/selection.ts';

const selecting = (labelSelector: string, fieldSelector = '') =>
  selectionOf(podResource, 'default', parseListQuery(new URLSearchParams({ labelSelector, fieldSelector })));

/** Returns an object that counts how often it is read. */
function counted(labels: Record<string, string>): Keyed & { reads: number } {
  return {
    key: '/registry/pods/default/a',
    reads: 0,
    get object() {
      this.reads++;
      return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels } } as unknown as KubeObject;
    },
  };
}

test('equal selectors of watches are compared with an object once, in any order of their terms', () => {
  const watches = new WatchSelections();
  const own = ['a=1,b!=2', 'b!=2,a=1', 'a=1,b!=2'].map((text) =>
    watches.enter('alice', podResource, selecting(text)),
  );
  const object = counted({ a: '1' });
  assert.deepEqual(
    own.map(({ selection }) => selection.matches(object)),
    [true, true, true],
  );
  assert.equal(object.reads, 1);
});

test('selectors that differ do not share an answer', () => {
  const watches = new WatchSelections();
  const object = counted({ a: '1' });
  const texts = [['a=1'], ['a=2'], ['a=1', 'metadata.name!=a'], ['a=1']] as [string, string?][];
  const own = texts.map((each) => watches.enter('alice', podResource, selecting(each[0], each[1])));
  assert.deepEqual(
    own.map(({ selection }) => selection.matches(object)),
    [true, false, false, true],
  );
});

test('another version of an object is compared again, also after thousands', () => {
  const watches = new WatchSelections();
  const [one] = [1, 2].map(() => watches.enter('alice', podResource, selecting('a=1')));
  for (let i = 0; i < 2000; i++)
    assert.equal(one?.selection.matches(counted({ a: String(i % 2) })), i % 2 === 1);
});

test('the terms of one user have a limit, and are released when a watch ends', () => {
  const watches = new WatchSelections(5);
  const three = selecting('a=1,b in (1,2)');
  watches.check('alice', three);
  const first = watches.enter('alice', podResource, three);
  assert.throws(
    () => watches.check('alice', three),
    (error: StatusError) => error.status.code === 429 && error.status.details?.retryAfterSeconds === 5,
  );
  watches.check('alice', selecting('a=1', 'metadata.name=b'));
  watches.check('alice', selecting(''));
  watches.check('bob', three);
  first.leave();
  assert.equal(watches.termsOf('alice'), 0);
  watches.check('alice', three);
});

test('terms are counted in every notation: fields, values of sets, and repetitions', () => {
  const watches = new WatchSelections(100);
  const many = (item: (index: number) => string) => Array.from({ length: 101 }, (_, i) => item(i)).join();
  const selectors = [
    ['', many((i) => `metadata.name!=n${i}`)],
    ['', many(() => 'metadata.name!=n')],
    [many(() => 'a=1'), ''],
    [many((i) => `!a${i}`), ''],
    [`a notin (${many(String)})`, ''],
    [many((i) => `a${i}`).slice(0, 220), many((i) => `metadata.name!=n${i}`)],
  ] as const;
  for (const [labels, fields] of selectors)
    assert.throws(
      () => watches.check('alice', selecting(labels, fields)),
      (error: StatusError) => error.status.code === 429,
      `${labels.slice(0, 30)} ${fields.slice(0, 30)}`,
    );
});

test('a selector that two users share is counted for both, and is kept until the last watch ends', () => {
  const watches = new WatchSelections(5);
  const three = selecting('a=1,b in (1,2)');
  const [first, second] = ['alice', 'bob'].map((user) => watches.enter(user, podResource, three));
  assert.deepEqual(
    ['alice', 'bob'].map((user) => watches.termsOf(user)),
    [3, 3],
  );
  first?.leave();
  assert.throws(() => watches.check('bob', three));
  watches.check('alice', three);
  second?.leave();
  assert.deepEqual(
    ['alice', 'bob'].map((user) => watches.termsOf(user)),
    [0, 0],
  );
});
