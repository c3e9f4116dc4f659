import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeTaints, parseTaintWords } from '../../../../src/cli/nodes/taint-plan.ts';

const parse = (text: string) => parseTaintWords(text.split(' '));

describe('words of ctl taint', () => {
  it('are parsed into nodes, taints to set and taints to remove', () => {
    assert.deepEqual(parse('node n1 n2 a=b:NoSchedule c:NoExecute d- e:NoExecute-'), {
      words: ['node', 'n1', 'n2'],
      add: [
        { key: 'a', value: 'b', effect: 'NoSchedule' },
        { key: 'c', effect: 'NoExecute' },
      ],
      remove: [
        { key: 'd', effect: '' },
        { key: 'e', effect: 'NoExecute' },
      ],
    });
  });

  const refused: [string, RegExp][] = [
    ['node n1', /^at least one taint update is required$/],
    ['a:NoSchedule', /^one or more resources must be specified/],
    ['node n1 a=b:NoSchedule n2', /^all resources must be specified before taint changes: n2$/],
    ['node n1 a=b', /^invalid taint spec: a=b, /],
    ['node n1 a', /^at least one taint update is required$/],
    ['node n1 a:Never', /^invalid taint effect: Never, unsupported taint effect$/],
    ['node n1 a:NoSchedule a-', /^cannot both modify and remove .*: a=$/],
    ['node n1 a=1:NoSchedule a=2:NoSchedule', /^duplicated taints .*\{a 2 NoSchedule\}$/],
  ];
  for (const [text, message] of refused) {
    it(`"${text}" is rejected`, () => assert.throws(() => parse(text), { name: 'UsageError', message }));
  }
});

describe('a change of taints', () => {
  const old = [
    { key: 'a', value: '1', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' },
    { key: 'a', effect: 'NoSchedule' },
    { key: 'b', effect: 'NoSchedule' },
  ];
  const change = (text: string, overwrite = false) =>
    changeTaints('n1', old, parse(`node n1 ${text}`), overwrite);

  it('keeps unnamed taints with all their fields', () => {
    const { taints, done } = change('c:NoSchedule');
    assert.deepEqual(taints, [{ key: 'c', effect: 'NoSchedule' }, ...old]);
    assert.equal(done, 'tainted');
  });

  it('removes taints by key, or by key and effect', () => {
    assert.deepEqual(change('a-'), { taints: [old[2]], done: 'untainted' });
    assert.deepEqual(change('a:NoSchedule-'), { taints: [old[0], old[2]], done: 'untainted' });
  });

  it('replaces a taint only with --overwrite', () => {
    assert.throws(() => change('b=2:NoSchedule'), {
      message: 'node n1 already has b taint(s) with same effect(s) and --overwrite is false',
    });
    const { taints, done } = change('b=2:NoSchedule', true);
    assert.deepEqual(taints, [{ key: 'b', value: '2', effect: 'NoSchedule' }, old[0], old[1]]);
    assert.equal(done, 'modified');
  });

  it('rejects the removal of a missing taint', () => {
    assert.throws(() => change('b:NoExecute-'), { message: 'taint "b:NoExecute" not found' });
  });
});
