import { jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { merge, testCreate } from '../../../../fixtures/kinds.ts';
import { head, pod, spec, template } from '../../../../fixtures/workloads.ts';

const uid = '11111111-2222-3333-4444-555555555555';
const job = merge(head('batch/v1', 'Job'), {
  metadata: { uid },
  spec: { template: merge(template, { spec: { restartPolicy: 'Never' } }) },
}) as Record<string, unknown>;
const indexed = (fields: object) => spec({ completionMode: 'Indexed', completions: 5, ...fields });
const failure = (...rules: object[]) => spec({ podFailurePolicy: { rules } });
const codes = (fields: object) =>
  failure({ action: 'FailJob', onExitCodes: { operator: 'In', values: [1], ...fields } });
const success = (...rules: object[]) => indexed({ successPolicy: { rules } });
const rule = 'spec.podFailurePolicy.rules[0]';
const ready = { type: 'DisruptionTarget' };

testCreate(jobResource, job, [
  [
    'several pods at once',
    spec({ parallelism: 3, completions: 6, backoffLimit: 0, ttlSecondsAfterFinished: 0 }),
  ],
  [
    'negative numbers',
    spec({
      parallelism: -1,
      completions: -1,
      activeDeadlineSeconds: -1,
      backoffLimit: -1,
      ttlSecondsAfterFinished: -1,
    }),
    'spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
    'spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0',
    'spec.completions: Invalid value: -1: must be greater than or equal to 0',
    'spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
    'spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'pods without a restart policy',
    pod({ restartPolicy: null }),
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  ['pods with the restart policy OnFailure', pod({ restartPolicy: 'OnFailure' })],
  [
    'a missing image, without a cause about the selector',
    pod({ containers: [{ name: 'a' }] }),
    'spec.template.spec.containers[0].image: Required value',
  ],
  [
    'a missing container name, without a cause about the selector',
    pod({ containers: [{ image: 'a' }] }),
    'spec.template.spec.containers[0].name: Required value',
  ],
  [
    'labels that name another Job',
    spec({
      template: { metadata: { labels: { 'controller-uid': 'x', 'batch.kubernetes.io/job-name': 'y' } } },
    }),
    `spec.template.metadata.labels[controller-uid]: Invalid value: {"app":"web","controller-uid":"x","batch.kubernetes.io/job-name":"y","job-name":"web","batch.kubernetes.io/controller-uid":"${uid}"}: must be '${uid}'`,
    'spec.template.metadata.labels[batch.kubernetes.io/job-name]: Invalid value: ',
  ],
  [
    'a selector without manualSelector',
    spec({ selector: { matchLabels: { app: 'web' } } }),
    'spec.selector: Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"',
  ],
  [
    'a selector with manualSelector',
    spec({ manualSelector: true, selector: { matchLabels: { app: 'web' } } }),
  ],
  [
    'manualSelector without a selector',
    spec({ manualSelector: true }),
    'spec.selector: Required value',
    'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ],
  [
    'an invalid selector that does not match the template',
    spec({ manualSelector: true, selector: { matchLabels: { app: 'x y' } } }),
    'spec.selector.matchLabels: Invalid value: "x y": a valid label',
    'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ],
  ['managed elsewhere', spec({ managedBy: 'example.com/queue' })],
  ['an empty managedBy', spec({ managedBy: '' }), 'spec.managedBy: Required value'],
  [
    'managedBy without a domain',
    spec({ managedBy: 'queue' }),
    'spec.managedBy: Invalid value: "queue": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  [
    'managedBy with an invalid domain and path',
    spec({ managedBy: 'A/b c' }),
    'spec.managedBy: Invalid value: "A": a lowercase RFC 1123 subdomain',
    'spec.managedBy: Invalid value: "b c": Invalid path',
  ],
  [
    'managedBy above the maximum length',
    spec({ managedBy: `example.com/${'a'.repeat(60)}` }),
    'spec.managedBy: Too long: may not be more than 63 bytes',
  ],
  ['another mode', spec({ completionMode: 'Random' }), 'spec.completionMode: Unsupported value: "Random"'],
]);

testCreate(jobResource, job, [
  ['indexed', indexed({ backoffLimitPerIndex: 1, maxFailedIndexes: 5 })],
  [
    'an indexed Job without completions',
    indexed({ completions: null, parallelism: 2 }),
    'spec.completions: Required value: when completion mode is Indexed',
  ],
  [
    'a name that leaves no room for the highest index',
    merge(indexed({ completions: 101 }), { metadata: { name: 'a'.repeat(60) } }),
    `metadata.name: Invalid value: "${'a'.repeat(60)}": will not able to create pod with invalid DNS label: ${'a'.repeat(60)}-100`,
  ],
  [
    'as many indexes as the name has room for',
    merge(indexed({ completions: 100 }), { metadata: { name: 'a'.repeat(60) } }),
  ],
  [
    'too high a parallelism of an indexed Job',
    indexed({ parallelism: 100_001 }),
    'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
  ],
  [
    'more failures than completions',
    indexed({ backoffLimitPerIndex: 1, maxFailedIndexes: 6 }),
    'spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions',
  ],
  [
    'more failures than the status holds',
    indexed({ completions: 200_000, backoffLimitPerIndex: 1, maxFailedIndexes: 100_001 }),
    'spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000',
    'spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
  ],
  [
    'many completions',
    indexed({ completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 }),
    'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
    'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
  ],
  [
    'failures of indexes without their limit',
    indexed({ maxFailedIndexes: 1 }),
    'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
  ],
  [
    'limits of indexes without indexes',
    spec({ backoffLimitPerIndex: 1, maxFailedIndexes: 1, successPolicy: { rules: [{ succeededCount: 1 }] } }),
    'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
    'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    'spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode',
  ],
]);

testCreate(jobResource, job, [
  ['a policy on exit codes', codes({ values: [1, 5], containerName: 'web' })],
  ['a policy on conditions', failure({ action: 'Ignore', onPodConditions: [ready] })],
  ['a policy without rules', spec({ podFailurePolicy: {} })],
  [
    'a failure policy with the restart policy OnFailure',
    merge(codes({}), pod({ restartPolicy: 'OnFailure' })),
    'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
  ],
  [
    'a failure policy with podReplacementPolicy TerminatingOrFailed',
    merge(codes({}), spec({ podReplacementPolicy: 'TerminatingOrFailed' })),
    'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
  ],
  [
    'a failure policy with podReplacementPolicy Failed',
    merge(codes({}), spec({ podReplacementPolicy: 'Failed' })),
  ],
  [
    'too many rules',
    failure(...Array.from({ length: 21 }, () => ({ action: 'Count', onPodConditions: [ready] }))),
    'spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items',
  ],
  [
    'an unknown action, and a missing one',
    failure({ action: 'Wait', onPodConditions: [ready] }, { onPodConditions: [ready] }),
    `${rule}.action: Unsupported value: "Wait": supported values: "Count", "FailIndex", "FailJob", "Ignore"`,
    'spec.podFailurePolicy.rules[1].action: Required value',
  ],
  [
    'an index that fails without a limit of its own',
    failure({ action: 'FailIndex', onPodConditions: [ready] }),
    `${rule}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
  ],
  [
    'both reasons',
    failure({ action: 'Count', onPodConditions: [ready], onExitCodes: { operator: 'In', values: [1] } }),
    `${rule}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported`,
  ],
  [
    'no reason',
    failure({ action: 'Count' }),
    `${rule}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`,
  ],
  [
    'invalid conditions',
    failure({ action: 'Count', onPodConditions: [{ type: 'a b' }, { type: 'a', status: 'Maybe' }] }),
    `${rule}.onPodConditions[1].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"`,
    `${rule}.onPodConditions[0].type: Invalid value: "a b": name part`,
  ],
  [
    'too many conditions',
    failure({ action: 'Count', onPodConditions: Array.from({ length: 21 }, () => ready) }),
    `${rule}.onPodConditions: Too many: 21: must have at most 20 items`,
  ],
  [
    'exit codes of another container',
    codes({ containerName: 'x' }),
    `${rule}.onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template`,
  ],
  [
    'an unknown operator for exit codes',
    codes({ operator: 'Is' }),
    `${rule}.onExitCodes.operator: Unsupported value: "Is"`,
  ],
  [
    'no exit codes',
    codes({ values: [] }),
    `${rule}.onExitCodes.values: Invalid value: []: at least one value is required`,
  ],
  [
    'too many exit codes',
    codes({ values: Array.from({ length: 256 }, (_, i) => i + 1) }),
    `${rule}.onExitCodes.values: Too many: 256: must have at most 255 items`,
  ],
  [
    'exit codes that are unsorted, repeated, and include 0',
    codes({ values: [2, 0, 2] }),
    `${rule}.onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator`,
    `${rule}.onExitCodes.values[2]: Duplicate value: 2`,
    `${rule}.onExitCodes.values: Invalid value: [2,0,2]: must be ordered`,
  ],
  ['all exit codes but 0', codes({ operator: 'NotIn', values: [0] })],
]);

const first = 'spec.successPolicy.rules[0]';
const indexesFault = (text: string, why: string) =>
  [
    `indexes ${text}`,
    success({ succeededIndexes: text }),
    `${first}.succeededIndexes: Invalid value: ${JSON.stringify(text)}: error parsing succeededIndexes: ${why}`,
  ] as const;
testCreate(jobResource, job, [
  ['a count and indexes', success({ succeededCount: 2, succeededIndexes: '0-1,4' }, { succeededCount: 5 })],
  [
    'no rules',
    indexed({ successPolicy: {} }),
    'spec.successPolicy.rules: Required value: at least one rules must be specified',
  ],
  [
    'too many rules',
    success(...Array.from({ length: 21 }, () => ({ succeededCount: 1 }))),
    'spec.successPolicy.rules: Too many: 21: must have at most 20 items',
  ],
  [
    'an empty rule',
    success({}),
    `${first}: Required value: at least one of succeededCount or succeededIndexes must be specified`,
  ],
  [
    'a negative count',
    success({ succeededCount: -1 }),
    `${first}.succeededCount: Invalid value: -1: must be greater than or`,
  ],
  [
    'a greater count',
    success({ succeededCount: 6 }),
    `${first}.succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of specified completions)`,
  ],
  [
    'a greater count than there are indexes',
    success({ succeededCount: 4, succeededIndexes: '0,2-3' }),
    `${first}.succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)`,
  ],
  indexesFault('5', 'too large index: "5"'),
  indexesFault('0-5', 'too large index: "5"'),
  indexesFault('1,0', 'non-increasing order, previous: 1, current: 0'),
  indexesFault('0-2,2', 'non-increasing order, previous: 2, current: 2'),
  indexesFault('3-3', 'non-increasing order, previous: 3, current: 3'),
  indexesFault('x', 'cannot convert string to integer for index: "x"'),
  indexesFault('1-', 'cannot convert string to integer for index: ""'),
  indexesFault('0-1-2', 'the fragment "0-1-2" has more than two parts'),
  ['no index at all', success({ succeededIndexes: '' })],
  [
    'a very long list of indexes',
    success({ succeededIndexes: ','.repeat(65_537) }),
    `${first}.succeededIndexes: Too long: may not be more than 65536 bytes`,
    `${first}.succeededIndexes: Invalid value: `,
  ],
]);
