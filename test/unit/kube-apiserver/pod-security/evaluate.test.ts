import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allChecks } from '../../../../src/kube-apiserver/pod-security/checks/all.ts';
import { inDetail, inShort, violationsOf } from '../../../../src/kube-apiserver/pod-security/evaluate.ts';
import { judged, podWith } from './pods.ts';

const probed = { containers: [{ name: 'a', livenessProbe: { httpGet: { port: 1, host: 'h' } } }] };

describe('evaluation', () => {
  test('latest is the version of the API that is served', () => {
    const at = (latest: number) =>
      violationsOf({ level: 'baseline', version: 'latest' }, podWith(probed), latest);
    assert.deepEqual(at(33), []);
    assert.equal(at(34).length, 1);
  });

  test('a named version applies, even if it is later than that of the API', () => {
    const at = (version: number) => violationsOf({ level: 'baseline', version }, podWith(probed), 32);
    assert.deepEqual(at(33), []);
    assert.equal(at(34).length, 1);
  });

  test('a future version has the newest known rules', () => {
    for (const version of [38, 99, 1_000_000, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(judged(probed, 'baseline', version), judged(probed, 'baseline', 37));
      assert.deepEqual(judged({}, 'restricted', version), judged({}, 'restricted', 37));
      assert.equal(judged({}, 'restricted', version).length, 4);
    }
  });

  test('the result is detailed for one pod and short for many', () => {
    const violations = [
      { reason: 'one', detail: 'this' },
      { reason: 'two', detail: '' },
    ];
    assert.equal(inDetail(violations), 'one (this), two');
    assert.equal(inShort(violations), 'one, two');
    assert.equal(inDetail([]), '');
  });

  test('the checks have separate names, increase with the versions, and replace earlier ones', () => {
    const baseline = new Set(allChecks.filter(({ level }) => level === 'baseline').map(({ id }) => id));
    assert.equal(new Set(allChecks.map(({ id }) => id)).size, allChecks.length);
    for (const { id, level, versions } of allChecks) {
      const since = versions.map((version) => version.since);
      assert.ok(since.length > 0, id);
      assert.deepEqual(
        since,
        [...new Set(since)].sort((a, b) => a - b),
        id,
      );
      const replaced = versions.flatMap(({ replaces = [] }) => replaces);
      assert.ok(level === 'restricted' || replaced.length === 0, id);
      for (const other of replaced) assert.ok(baseline.has(other), `${id} replaces ${other}`);
    }
  });
});
