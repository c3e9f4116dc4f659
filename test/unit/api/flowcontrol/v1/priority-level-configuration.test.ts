import assert from 'node:assert/strict';
import { test } from 'node:test';
import { priorityLevelConfigurationResource } from '../../../../../src/api/flowcontrol/v1/priority-level-configuration.ts';
import {
  cells,
  created,
  merge,
  testConditions,
  testCreate,
  testStatusMetadata,
  testUpdate,
} from '../../../../fixtures/kinds.ts';

const level = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: { name: 'low' },
  spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
};
const queues = (queuing: object) => ({ spec: { limited: { limitResponse: { type: 'Queue', queuing } } } });

testCreate(priorityLevelConfigurationResource, level, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  [
    'no specification',
    { spec: null },
    'spec.type: Unsupported value: "": supported values: "Exempt", "Limited"',
  ],
  [
    'an invalid type',
    { spec: { type: 'X' } },
    'spec.type: Unsupported value: "X": supported values: "Exempt", "Limited"',
  ],
  [
    'type Exempt with another name',
    { spec: { type: 'Exempt' } },
    "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'",
    'spec.limited: Forbidden: must be nil if the type is not Limited',
  ],
  ['both', { spec: { exempt: {} } }, 'spec.exempt: Forbidden: must be nil if the type is Limited'],
  [
    'without limits',
    { spec: { limited: null } },
    'spec.limited: Required value: must not be empty when type is Limited',
  ],
  [
    'limits without a type',
    { spec: { limited: { limitResponse: null } } },
    'spec.limited.limitResponse.type: Unsupported value: "": supported values: "Queue", "Reject"',
  ],
  [
    'queues with the response Reject',
    { spec: { limited: { limitResponse: { queuing: {} } } } },
    'spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited',
  ],
  [
    'no queues',
    { spec: { limited: { limitResponse: { type: 'Queue' } } } },
    'spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited',
  ],
  ['queues', queues({})],
  [
    'negative numbers of queues',
    queues({ queues: -1, handSize: -1, queueLengthLimit: -1 }),
    'spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive',
    'spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive',
    'spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive',
  ],
  [
    'a handSize without queues',
    queues({ queues: -1 }),
    'spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive',
    'spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (-1)',
  ],
  [
    'a handSize above the number of queues',
    queues({ queues: 4, handSize: 5 }),
    'spec.limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than queues (4)',
  ],
  ['a handSize equal to the number of queues', queues({ queues: 4, handSize: 4 })],
  [
    'too many queues',
    queues({ queues: 10000001, handSize: 1 }),
    'spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater than 10000000',
  ],
  ['the maximum number of queues', queues({ queues: 10000000, handSize: 2 })],
  ['the largest handSize', queues({ queues: 1024, handSize: 6 })],
  [
    'a handSize that is too large',
    queues({ queues: 1024, handSize: 7 }),
    'spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and hand',
  ],
  [
    'invalid shares',
    { spec: { limited: { nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 } } },
    'spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
    'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
    'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
  ],
  [
    'no share',
    { spec: { limited: { nominalConcurrencyShares: 0, lendablePercent: -1, borrowingLimitPercent: 0 } } },
    'spec.limited.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive',
  ],
  ['all lent', { spec: { limited: { lendablePercent: 100 } } }],
  [
    'the level exempt',
    {
      metadata: { name: 'exempt' },
      spec: { type: 'Exempt', limited: null, exempt: { nominalConcurrencyShares: 5, lendablePercent: 100 } },
    },
  ],
  [
    'the level exempt with invalid shares',
    {
      metadata: { name: 'exempt' },
      spec: { type: 'Exempt', limited: null, exempt: { nominalConcurrencyShares: -1, lendablePercent: 101 } },
    },
    'spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
    'spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
  ],
  [
    'the level exempt with a limit',
    { metadata: { name: 'exempt' } },
    "spec.type: Invalid value: \"Limited\": type must be 'Exempt' if and only if name is 'exempt'",
    'spec: Invalid value: {"type":"Limited","limited":{"limitResponse":{"type":"Reject"},"nominalConcurrencyShares"',
  ],
  [
    'the level exempt with both fields',
    { metadata: { name: 'exempt' }, spec: { type: 'Exempt' } },
    'spec.limited: Forbidden: must be nil if the type is not Limited',
    'spec: Invalid value: {"type":"Exempt","limited":{"limitResponse":{"type":"Reject"},"nominalConcurrencyShares":',
  ],
  [
    'the level catch-all with changes',
    { metadata: { name: 'catch-all' } },
    'spec: Invalid value: {"type":"Limited","limited":{"limitResponse":{"type":"Reject"},"nominalConcurrencyShares"',
  ],
  [
    'the level catch-all',
    { metadata: { name: 'catch-all' }, spec: { limited: { nominalConcurrencyShares: 5 } } },
  ],
  [
    'an annotation of another version',
    { metadata: { annotations: { 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '' } } },
    "metadata.annotations: Forbidden: annotation 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden",
  ],
]);

testUpdate(priorityLevelConfigurationResource, level, [
  ['other shares', { spec: { limited: { nominalConcurrencyShares: 5 } } }],
  ['queues', queues({})],
]);

test('a new object has the default values and an empty status', () => {
  const make = (patch: object) => created(priorityLevelConfigurationResource, merge(level, patch));
  const { limited } = make({}).spec;
  assert.deepEqual([limited?.nominalConcurrencyShares, limited?.lendablePercent], [30, 0]);
  const queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 };
  const zeros = { queues: 0, handSize: 0, queueLengthLimit: 0 };
  for (const sent of [{}, zeros])
    assert.deepEqual(make(queues(sent)).spec.limited?.limitResponse, { type: 'Queue', queuing });
  const exempt = make({ spec: { type: 'Exempt', limited: null, exempt: {} } });
  assert.deepEqual(exempt.spec.exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 });
  assert.deepEqual(make({ status: { conditions: [{}] } }).status, {});
});

test('a write is answered with the warning that the kind has no effect', () => {
  const made = created(priorityLevelConfigurationResource, level);
  assert.deepEqual(priorityLevelConfigurationResource.strategy.warnings?.(made, undefined), [
    'PriorityLevelConfiguration is stored and not acted on yet: requests are not limited by it',
  ]);
});

testStatusMetadata(priorityLevelConfigurationResource, level);
testConditions(priorityLevelConfigurationResource, level);

test('the columns show the fields of the specification', () => {
  const show = (patch: object) =>
    cells(
      priorityLevelConfigurationResource,
      created(priorityLevelConfigurationResource, merge(level, patch)),
      0,
    );
  const shown = {
    Name: 'low',
    Type: 'Limited',
    NominalConcurrencyShares: 30,
    Queues: '<none>',
    HandSize: '<none>',
    QueueLengthLimit: '<none>',
    Age: '<unknown>',
  };
  assert.deepEqual(show({}), shown);
  assert.deepEqual(show(queues({ handSize: 6 })), {
    ...shown,
    Queues: 64,
    HandSize: 6,
    QueueLengthLimit: 50,
  });
  assert.deepEqual(show({ spec: { type: 'Exempt', limited: null } }), {
    ...shown,
    Type: 'Exempt',
    NominalConcurrencyShares: '<none>',
  });
});
