import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseListQuery } from '../../../src/apimachinery/list-options.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';

const parse = (query: string) => parseListQuery(new URLSearchParams(query));

test('parameters of clients are parsed', () => {
  const list = parse('limit=500&resourceVersion=0&labelSelector=a%3Db&pretty=true&timeout=32s');
  assert.equal(list.limit, 500);
  assert.equal(list.resourceVersion, 0);
  assert.equal(list.watch, false);
  assert.equal(list.labelSelector.requirements.length, 1);
  assert.equal(parse('resourceVersion=').resourceVersion, undefined);
  const watch = parse(
    'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=9',
  );
  assert.deepEqual(
    [
      watch.watch,
      watch.sendInitialEvents,
      watch.allowWatchBookmarks,
      watch.resourceVersionMatch,
      watch.timeoutSeconds,
    ],
    [true, true, true, 'NotOlderThan', 9],
  );
  assert.equal(parse('watch=false').watch, false);
  assert.equal(parse('resourceVersion=7&resourceVersionMatch=Exact').resourceVersionMatch, 'Exact');
});

for (const [query, code, field] of [
  ['resourceVersion=x', 400, undefined],
  ['resourceVersion=-1', 400, undefined],
  ['limit=x', 400, undefined],
  ['timeoutSeconds=1.5', 400, undefined],
  ['labelSelector=a+b', 400, undefined],
  ['fieldSelector=a', 400, undefined],
  ['limit=-1', 422, 'limit'],
  ['resourceVersionMatch=Exact', 422, 'resourceVersionMatch'],
  ['resourceVersion=5&resourceVersionMatch=Exact&continue=abc', 422, 'resourceVersionMatch'],
  ['resourceVersion=5&resourceVersionMatch=Newest', 422, 'resourceVersionMatch'],
  ['resourceVersion=0&resourceVersionMatch=Exact', 422, 'resourceVersionMatch'],
  ['sendInitialEvents=true', 422, 'sendInitialEvents'],
  ['watch=true&sendInitialEvents=true', 422, 'resourceVersionMatch'],
  ['watch=true&sendInitialEvents=true&resourceVersionMatch=Exact', 422, 'resourceVersionMatch'],
  ['watch=true&resourceVersionMatch=NotOlderThan', 422, 'resourceVersionMatch'],
] as const) {
  test(`${query} is refused with ${code}`, () => {
    assert.throws(
      () => parse(query),
      (error) =>
        error instanceof StatusError &&
        error.status.code === code &&
        error.status.details?.causes?.[0]?.field === field,
    );
  });
}
