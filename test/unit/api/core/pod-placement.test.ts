/** Affinity to other pods and topology spread: validation, and the effect of their label keys. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyLabelKeys, validatePodAffinity } from '../../../../src/api/core/v1/pod/affinity-validation.ts';
import { validateTopologySpread } from '../../../../src/api/core/v1/pod/topology-spread-validation.ts';
import type {
  PodAffinityTerm,
  PodSpec,
  TopologySpreadConstraint,
} from '../../../../src/api/core/v1/types.gen.ts';
import { pod } from '../../controllers/objects.ts';

const specWith = (more: Partial<PodSpec>): PodSpec => ({ ...pod('p').spec, ...more });
const told = (
  causes: readonly { readonly field?: string | undefined; readonly message?: string | undefined }[],
) => causes.map(({ field, message }) => `${field}: ${message}`);

const required = (...terms: PodAffinityTerm[]) =>
  specWith({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } });
const preferred = (weight: number, podAffinityTerm: PodAffinityTerm) =>
  specWith({
    affinity: {
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }] },
    },
  });

const labelSelector = { matchLabels: { app: 'web' } };
const good: PodAffinityTerm = { topologyKey: 'kubernetes.io/hostname', labelSelector };
const at = 'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]';

describe('affinity to pods', () => {
  const cases: [string, PodSpec, string[]][] = [
    ['is fine', required(good), []],
    [
      'of a namespace and by labels of namespaces',
      required({ ...good, namespaces: ['a'], namespaceSelector: {} }),
      [],
    ],
    [
      'needs a topology',
      required({ ...good, topologyKey: '' }),
      [`${at}.topologyKey: Required value: can not be empty`],
    ],
    ['needs namespaces that can be', required({ ...good, namespaces: ['A'] }), [`${at}.namespace`]],
    [
      'needs selectors that can be',
      required({ ...good, labelSelector: { matchLabels: { 'a b': '' } } }),
      [`${at}.labelSelector.matchLabels`],
    ],
    [
      'by label keys needs a selector',
      required({ topologyKey: 'a', matchLabelKeys: ['v'] }),
      [`${at}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`],
    ],
    [
      'by a key to match and not to match',
      required({ ...good, matchLabelKeys: ['v'], mismatchLabelKeys: ['v'] }),
      [`${at}.matchLabelKeys[0]: Invalid value: "v": exists in both matchLabelKeys and mismatchLabelKeys`],
    ],
    [
      'by a key that the selector has',
      required({
        topologyKey: 'a',
        labelSelector: {
          matchLabels: { v: '1' },
          matchExpressions: [{ key: 'v', operator: 'In', values: ['1'] }],
        },
        matchLabelKeys: ['v'],
      }),
      [`${at}.matchLabelKeys[0]: Invalid value: "v": exists in both matchLabelKeys and labelSelector`],
    ],
    [
      'of no weight',
      preferred(0, good),
      [
        'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
      ],
    ],
    ['of the least weight', preferred(1, good), []],
    ['of the most weight', preferred(100, good), []],
    [
      'that is preferred, and needs a topology as well',
      preferred(1, { ...good, topologyKey: '' }),
      [
        'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey: Required value: can not be empty',
      ],
    ],
    [
      'by an invalid label key',
      required({ ...good, mismatchLabelKeys: ['a b'] }),
      [`${at}.mismatchLabelKeys[0]: Invalid value: "a b"`],
    ],
    [
      'of too much weight',
      preferred(101, good),
      ['spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight'],
    ],
  ];
  for (const [what, spec, expected] of cases)
    it(what, () => {
      const causes = told(validatePodAffinity(spec, 'spec'));
      assert.equal(causes.length, expected.length, causes.join('\n'));
      for (const [index, text] of expected.entries())
        assert.ok(causes[index]?.startsWith(text), causes[index] ?? '');
    });

  it('gets its label keys as requirements, of the labels that the pod has', () => {
    const term = {
      ...good,
      labelSelector: { ...labelSelector },
      matchLabelKeys: ['v', 'none'],
      mismatchLabelKeys: ['t'],
    };
    const spec = required(term);
    applyLabelKeys(spec, { v: '2', t: 'x' });
    assert.deepEqual(term.labelSelector, {
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'v', operator: 'In', values: ['2'] },
        { key: 't', operator: 'NotIn', values: ['x'] },
      ],
    });
    assert.deepEqual(validatePodAffinity(spec, 'spec'), []);
    const without = required({ topologyKey: 'a' });
    applyLabelKeys(without, { v: '2' });
    assert.deepEqual(without, required({ topologyKey: 'a' }));
  });
});

describe('spreading', () => {
  const constraint: TopologySpreadConstraint = {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector,
  };
  const one = 'spec.topologySpreadConstraints[0]';
  const cases: [string, Partial<TopologySpreadConstraint>[], string[]][] = [
    ['is fine', [{}], []],
    [
      'twice over one topology, one of which is only preferred',
      [{}, { whenUnsatisfiable: 'ScheduleAnyway' }],
      [],
    ],
    ['by no skew', [{ maxSkew: 0 }], [`${one}.maxSkew: Invalid value: 0: must be greater than zero`]],
    ['over nothing', [{ topologyKey: '' }], [`${one}.topologyKey: Required value: can not be empty`]],
    [
      'over no domain',
      [{ minDomains: 0 }],
      [`${one}.minDomains: Invalid value: 0: must be greater than zero`],
    ],
    [
      'over some domains at least, which is only preferred',
      [{ minDomains: 1, whenUnsatisfiable: 'ScheduleAnyway' }],
      [
        `${one}.minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`,
      ],
    ],
    [
      'twice the same',
      [{}, {}],
      [`${one}.{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"`],
    ],
    [
      'by keys without a selector',
      [{ labelSelector: undefined, matchLabelKeys: ['v'] }],
      [`${one}.matchLabelKeys: Forbidden`],
    ],
    [
      'by a key of the selector',
      [{ matchLabelKeys: ['app'] }],
      [`${one}.matchLabelKeys[0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector`],
    ],
    [
      'of pods that no selector can mean',
      [{ labelSelector: { matchLabels: { 'a b': '' } } }],
      [`${one}.labelSelector.matchLabels`],
    ],
  ];
  for (const [what, constraints, expected] of cases)
    it(what, () => {
      const topologySpreadConstraints = constraints.map((over) => ({ ...constraint, ...over }));
      const causes = told(validateTopologySpread(specWith({ topologySpreadConstraints }), 'spec'));
      assert.equal(causes.length, expected.length, causes.join('\n'));
      for (const [index, text] of expected.entries())
        assert.ok(causes[index]?.startsWith(text), causes[index] ?? '');
    });
});
