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
      'with a namespace and labels of namespaces',
      required({ ...good, namespaces: ['a'], namespaceSelector: {} }),
      [],
    ],
    [
      'needs a topology',
      required({ ...good, topologyKey: '' }),
      [`${at}.topologyKey: Required value: can not be empty`],
    ],
    ['needs valid namespaces', required({ ...good, namespaces: ['A'] }), [`${at}.namespace`]],
    [
      'needs valid selectors',
      required({ ...good, labelSelector: { matchLabels: { 'a b': '' } } }),
      [`${at}.labelSelector.matchLabels`],
    ],
    [
      'with label keys needs a selector',
      required({ topologyKey: 'a', matchLabelKeys: ['v'] }),
      [`${at}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`],
    ],
    [
      'with a key in matchLabelKeys and mismatchLabelKeys',
      required({ ...good, matchLabelKeys: ['v'], mismatchLabelKeys: ['v'] }),
      [`${at}.matchLabelKeys[0]: Invalid value: "v": exists in both matchLabelKeys and mismatchLabelKeys`],
    ],
    [
      'with a label key that the selector has',
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
      'with a weight of 0',
      preferred(0, good),
      [
        'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
      ],
    ],
    ['with the minimum weight', preferred(1, good), []],
    ['with the maximum weight', preferred(100, good), []],
    [
      'needs a topology key also if it is preferred',
      preferred(1, { ...good, topologyKey: '' }),
      [
        'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey: Required value: can not be empty',
      ],
    ],
    [
      'with an invalid label key',
      required({ ...good, mismatchLabelKeys: ['a b'] }),
      [`${at}.mismatchLabelKeys[0]: Invalid value: "a b"`],
    ],
    [
      'with a weight above the maximum',
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

  it("gets its label keys as requirements, with the values of the pod's labels", () => {
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
      'by one topology twice, once required and once preferred',
      [{}, { whenUnsatisfiable: 'ScheduleAnyway' }],
      [],
    ],
    [
      'with a maximum skew of 0',
      [{ maxSkew: 0 }],
      [`${one}.maxSkew: Invalid value: 0: must be greater than zero`],
    ],
    ['over nothing', [{ topologyKey: '' }], [`${one}.topologyKey: Required value: can not be empty`]],
    [
      'with minDomains of 0',
      [{ minDomains: 0 }],
      [`${one}.minDomains: Invalid value: 0: must be greater than zero`],
    ],
    [
      'with minDomains although it is only preferred',
      [{ minDomains: 1, whenUnsatisfiable: 'ScheduleAnyway' }],
      [
        `${one}.minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`,
      ],
    ],
    [
      'with the same constraint twice',
      [{}, {}],
      [`${one}.{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"`],
    ],
    [
      'with label keys but without a selector',
      [{ labelSelector: undefined, matchLabelKeys: ['v'] }],
      [`${one}.matchLabelKeys: Forbidden`],
    ],
    [
      'with a label key that the selector has',
      [{ matchLabelKeys: ['app'] }],
      [`${one}.matchLabelKeys[0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector`],
    ],
    [
      'with an invalid selector',
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
