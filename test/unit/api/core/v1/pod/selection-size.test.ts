/** Limit of the terms with which a pod selects nodes and other pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  maxSelectionTerms,
  validateSelectionSize,
} from '../../../../../../src/api/core/v1/pod/selection-size.ts';
import type { PodSpec } from '../../../../../../src/api/core/v1/types.gen.ts';

const times = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));
const absent = (count: number) =>
  times(count, (index) => ({ key: `x${index}`, operator: 'DoesNotExist' as const }));
const podTerm = (count: number) => ({ topologyKey: 'a', labelSelector: { matchExpressions: absent(count) } });

const specs: Readonly<Record<string, (count: number) => Partial<PodSpec>>> = {
  nodeSelector: (count) => ({ nodeSelector: Object.fromEntries(times(count, (i) => [`x${i}`, 'a'])) }),
  tolerations: (count) => ({ tolerations: times(count, (i) => ({ key: `x${i}`, operator: 'Exists' })) }),
  topologySpreadConstraints: (count) => ({
    topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', ...podTerm(count - 1) }],
  }),
};

const affinities: Readonly<Record<string, (count: number) => PodSpec['affinity']>> = {
  'expressions of a required node term': (count) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: absent(count - 1) }],
      },
    },
  }),
  'required node terms': (count) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: times(count, () => ({})) },
    },
  }),
  'preferred node terms': (count) => ({
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: times(count, () => ({ weight: 1, preference: {} })),
    },
  }),
  'requirements of an affinity to pods': (count) => ({
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [podTerm(count - 1)] },
  }),
  'requirements of a preferred anti-affinity': (count) => ({
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: podTerm(count - 1) }],
    },
  }),
  'requirements for namespaces': (count) => ({
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'a', namespaceSelector: { matchExpressions: absent(count - 1) } },
      ],
    },
  }),
};

const fieldsOf = (parts: Partial<PodSpec>) =>
  validateSelectionSize({ containers: [], ...parts } as unknown as PodSpec, 'spec').map(({ field }) => field);

for (const [field, make] of Object.entries(specs))
  test(`a pod may have at most ${maxSelectionTerms} terms of ${field}`, () => {
    assert.deepEqual(fieldsOf(make(maxSelectionTerms)), []);
    assert.deepEqual(fieldsOf(make(maxSelectionTerms + 1)), [`spec.${field}`]);
  });

for (const [what, make] of Object.entries(affinities))
  test(`a pod may have at most ${maxSelectionTerms} ${what}`, () => {
    assert.deepEqual(fieldsOf({ affinity: make(maxSelectionTerms) }), []);
    assert.deepEqual(fieldsOf({ affinity: make(maxSelectionTerms + 1) }), ['spec.affinity']);
  });

test('the terms of all fields are counted together, without the values of a set', () => {
  const half = maxSelectionTerms / 2 + 1;
  assert.deepEqual(fieldsOf({ ...specs.nodeSelector?.(half), ...specs.tolerations?.(half - 1) }), [
    'spec.nodeSelector',
  ]);
  const values = times(5000, String);
  const terms = [{ matchExpressions: [{ key: 'a', operator: 'In' as const, values }] }];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  assert.deepEqual(fieldsOf({ affinity: { nodeAffinity: required } }), []);
});
