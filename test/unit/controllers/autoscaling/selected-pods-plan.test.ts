import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SelectedPods } from '../../../../src/controllers/autoscaling/selected-pods-plan.ts';
import { pod } from '../objects.ts';

const labelled = (name: string, labels: Record<string, string>) => {
  const one = pod(name);
  return { ...one, metadata: { ...one.metadata, labels } };
};
const pods = [
  labelled('a', { app: 'web', tier: 'front' }),
  labelled('b', { app: 'web' }),
  labelled('c', { app: 'db' }),
  labelled('d', {}),
];
const found = (selectors: readonly (readonly [string, string])[], key: string) => {
  const text = selectors.find(([name]) => name === key)?.[1] ?? '';
  const selected = new SelectedPods(pods, selectors).of(key, text);
  if (!selected || typeof selected === 'string') return selected;
  return [selected.pods.map(({ metadata }) => metadata.name).join(''), selected.autoscalers.join(' ')];
};

describe('the pods of an autoscaler', () => {
  it('are those that its selector matches', () => {
    const all = [
      ['n/web', 'app=web'],
      ['n/db', 'app=db,tier!=front'],
    ] as const;
    assert.deepEqual(found(all, 'n/web'), ['ab', 'n/web']);
    assert.deepEqual(found(all, 'n/db'), ['c', 'n/db']);
  });

  it('belong to two autoscalers if both select one of them, and both autoscalers report that', () => {
    const all = [
      ['n/web', 'app=web'],
      ['n/front', 'tier in (front,back)'],
      ['n/all', '!none'],
      ['n/idle', 'app=idle'],
    ] as const;
    assert.deepEqual(found(all, 'n/front'), ['a', 'n/all n/front n/web']);
    assert.deepEqual(found(all, 'n/all'), ['abcd', 'n/all n/front n/web']);
    assert.deepEqual(found(all, 'n/idle'), ['', 'n/idle']);
  });

  it('are unknown for an autoscaler that was not passed in, or whose selector has changed', () => {
    const selected = new SelectedPods(pods, [['n/web', 'app=web']]);
    assert.equal(selected.of('n/other', 'app=web'), undefined);
    assert.equal(selected.of('n/web', 'app=db'), undefined);
  });

  it('are unknown for an invalid selector, and are found for other selectors', () => {
    const all = [
      ['n/bad', 'a b c'],
      ['n/db', 'app=db'],
    ] as const;
    assert.match(String(found(all, 'n/bad')), /unable to parse requirement/);
    assert.deepEqual(found(all, 'n/db'), ['c', 'n/db']);
  });

  it('are found in a time that depends on their number, and not on autoscalers times pods', () => {
    let looks = 0;
    const counted = Array.from({ length: 1000 }, (_, index) => {
      const one = labelled(`p${index}`, { app: `a${index}` });
      const { labels } = one.metadata;
      return {
        ...one,
        metadata: {
          ...one.metadata,
          get labels() {
            looks++;
            return labels;
          },
        },
      };
    });
    const selected = new SelectedPods(
      counted,
      counted.map((_, index) => [`n/${index}`, `app=a${index}`] as const),
    );
    for (const index of counted.keys()) assert.ok(selected.of(`n/${index}`, `app=a${index}`));
    assert.ok(looks <= 4 * counted.length, String(looks));
  });
});
