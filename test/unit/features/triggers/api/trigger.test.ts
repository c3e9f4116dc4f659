import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { folderWatchResource } from '../../../../../src/features/triggers/api/folder-watch.ts';
import { type Trigger, triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import {
  type TriggerEvent,
  triggerEventResource,
} from '../../../../../src/features/triggers/api/trigger-event.ts';
import { eventDraft } from '../../../../../src/features/triggers/api/trigger-event-draft.ts';
import { triggerAt } from '../../../../../src/features/triggers/api/trigger-path.ts';
import { decode } from '../../../../fixtures/kinds.ts';
import { before, testCells } from '../../../api/column-cells.ts';

const metadata = { name: 't', namespace: 'default', uid: 'u1', creationTimestamp: before(5) };
const trigger = (spec: object, name = 't'): Trigger =>
  decode(triggerResource, {
    apiVersion: 'minik8s.io/v1',
    kind: 'Trigger',
    metadata: { ...metadata, name },
    spec: { target: { name: 'f' }, ...spec },
  });
const causes = (object: Trigger) =>
  (triggerResource.strategy.validate?.(object) ?? []).map(({ field, message }) => `${field}: ${message}`);

it('a Trigger on changes of objects names their kind and its version', () => {
  assert.throws(() => trigger({ object: { apiVersion: 'v1' } }), /spec\.object\.kind: Required value/);
  assert.throws(() => trigger({ object: { kind: 'Pod' } }), /spec\.object\.apiVersion: Required value/);
});

describe('the defaults of a Trigger', () => {
  it('are those of the documentation', () => {
    const { target, retry, deadLetters, suspend, serviceAccountName } = trigger({
      cron: { schedule: '@hourly' },
    }).spec;
    assert.deepEqual(
      { target, retry, deadLetters, suspend, serviceAccountName },
      {
        target: { kind: 'Function', name: 'f' },
        retry: { maxAttempts: 5, minSeconds: 1, maxSeconds: 300 },
        deadLetters: { limit: 100 },
        suspend: false,
        serviceAccountName: 'default',
      },
    );
  });
  it('include those of its sources', () => {
    assert.deepEqual(trigger({ http: { path: '/a' } }).spec.http, {
      path: '/a',
      methods: ['POST'],
      public: false,
    });
    assert.deepEqual(trigger({ result: { function: 'g' } }).spec.result?.outcomes, ['Success', 'Failure']);
    const object = { apiVersion: 'v1', kind: 'Pod' };
    assert.deepEqual(trigger({ object }).spec.object?.types, ['Created', 'Updated', 'Deleted']);
  });
});

describe('a Trigger is accepted with', () => {
  const accepted: Readonly<Record<string, object>> = {
    'a schedule': {
      cron: { schedule: '*/5 * * * *', timeZone: 'Europe/Berlin', startingDeadlineSeconds: 10 },
    },
    'a path': { http: { path: '/orders/v1.0/new_one', methods: ['GET', 'POST'] } },
    'objects of all namespaces': { object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: '*' } },
    selectors: {
      object: {
        apiVersion: 'v1',
        kind: 'Pod',
        labelSelector: 'a in (b,c)',
        fieldSelector: 'spec.nodeName=n',
      },
    },
    'results, and input': { result: { function: 'g', outcomes: ['Failure'] }, input: { a: [1] } },
    'files of a claim': {
      file: { claimName: 'data', path: 'in/new', pattern: '*.csv', types: ['Created'], recursive: true },
    },
    'files of a folder': { file: { folder: '/srv/in', nodeSelector: { disk: 'big' } } },
    'a workflow': { target: { kind: 'Workflow', name: 'w' }, cron: { schedule: '@daily' } },
  };
  for (const [name, spec] of Object.entries(accepted))
    it(name, () => assert.deepEqual(causes(trigger(spec)), []));
});

describe('a Trigger is rejected', () => {
  const cron = { schedule: '@hourly' };
  const pods = { apiVersion: 'v1', kind: 'Pod' };
  const refused: readonly (readonly [string, object, RegExp])[] = [
    ['without a source', {}, /^spec: Required.*one of cron, http, object, result/],
    ['with two', { cron, http: { path: '/a' } }, /^spec.http: Forbidden: a trigger with cron/],
    ['with an invalid schedule', { cron: { schedule: '* * *' } }, /^spec.cron.schedule: Invalid/],
    ['with an unknown zone', { cron: { ...cron, timeZone: 'Mars' } }, /^spec.cron.timeZone: Invalid/],
    [
      'with a negative deadline',
      { cron: { ...cron, startingDeadlineSeconds: -1 } },
      /startingDeadlineSeconds/,
    ],
    ['with a path without a slash', { http: { path: 'a' } }, /^spec.http.path: Invalid/],
    ['with a path with ..', { http: { path: '/a/../b' } }, /^spec.http.path: Invalid/],
    ['with a path with a query', { http: { path: '/a?b' } }, /^spec.http.path: Invalid/],
    ['with a path that is too long', { http: { path: `/${'a'.repeat(300)}` } }, /^spec.http.path: Too long/],
    ['without a method', { http: { path: '/a', methods: [] } }, /^spec.http.methods: Required/],
    [
      'with an invalid version',
      { object: { ...pods, apiVersion: 'a/b/c' } },
      /^spec.object.apiVersion: Invalid/,
    ],
    ['with a kind that is a path', { object: { ...pods, kind: '../Pod' } }, /^spec.object.kind: Invalid/],
    [
      'with an invalid namespace',
      { object: { ...pods, namespace: 'a/b' } },
      /^spec.object.namespace: Invalid/,
    ],
    [
      'with an invalid label selector',
      { object: { ...pods, labelSelector: 'a in' } },
      /^spec.object.labelSelector: /,
    ],
    [
      'with an invalid field selector',
      { object: { ...pods, fieldSelector: 'a' } },
      /^spec.object.fieldSelector: /,
    ],
    [
      'on TriggerEvents',
      { object: { apiVersion: 'minik8s.io/v1', kind: 'TriggerEvent' } },
      /^spec.object.kind: Forb/,
    ],
    ['without changes', { object: { ...pods, types: [] } }, /^spec.object.types: Required/],
    [
      'with an unknown change of objects',
      { object: { ...pods, types: ['Created', 'created'] } },
      /^spec.object.types\[1\]: Unsupported value: "created": supported values: "Created", "Updated", "Deleted"$/,
    ],
    [
      'with an unknown change of files',
      { file: { folder: '/a', types: ['Moved'] } },
      /^spec.file.types\[0\]: Unsupported value: "Moved"/,
    ],
    ['without outcomes', { result: { function: 'g', outcomes: [] } }, /^spec.result.outcomes: Required/],
    [
      'with an unknown outcome',
      { result: { function: 'g', outcomes: ['failure'] } },
      /^spec.result.outcomes\[0\]: Unsupported value: "failure": supported values: "Success", "Failure"$/,
    ],
    ['with neither a claim nor a folder', { file: {} }, /^spec.file: Required/],
    ['with a claim and a folder', { file: { claimName: 'a', folder: '/b' } }, /^spec.file.folder: Forbidden/],
    ['with an invalid claim', { file: { claimName: 'a/b' } }, /^spec.file.claimName: Invalid/],
    [
      'with a path that leaves its volume',
      { file: { claimName: 'a', path: '../b' } },
      /^spec.file.path: Invalid/,
    ],
    [
      'with an absolute path in a claim',
      { file: { claimName: 'a', path: '/b' } },
      /^spec.file.path: Invalid/,
    ],
    ['with a path without a claim', { file: { folder: '/a', path: 'b' } }, /^spec.file.path: Forbidden/],
    ['with a folder that is not an absolute path', { file: { folder: 'a' } }, /^spec.file.folder: Invalid/],
    ['with a folder with ..', { file: { folder: '/a/../b' } }, /^spec.file.folder: Invalid/],
    ['with the folder /', { file: { folder: '/' } }, /^spec.file.folder: Invalid/],
    [
      'with a nodeSelector for a claim',
      { file: { claimName: 'a', nodeSelector: {} } },
      /^spec.file.nodeSelector: Forbidden/,
    ],
    ['with a pattern of paths', { file: { folder: '/a', pattern: 'a/*' } }, /^spec.file.pattern: Invalid/],
    ['without changes of files', { file: { folder: '/a', types: [] } }, /^spec.file.types: Required/],
    ['with an invalid function', { result: { function: 'A_' } }, /^spec.result.function: Invalid/],
    ['with no attempts', { cron, retry: { maxAttempts: 0 } }, /^spec.retry.maxAttempts: Invalid/],
    [
      'with a maximum pause below the minimum',
      { cron, retry: { minSeconds: 9, maxSeconds: 3 } },
      /^spec.retry.maxSeconds: Invalid/,
    ],
    ['with a negative limit', { cron, deadLetters: { limit: -1 } }, /^spec.deadLetters.limit: Invalid/],
    ['with too much input', { cron, input: 'x'.repeat(300_000) }, /^spec.input: Too long/],
    ['with an invalid target', { cron, target: { name: 'a/b' } }, /^spec.target.name: Invalid/],
    ['with an invalid account', { cron, serviceAccountName: 'A' }, /^spec.serviceAccountName: Invalid/],
  ];
  for (const [name, spec, expected] of refused)
    it(name, () => {
      const [first, ...more] = causes(trigger(spec));
      assert.match(first ?? '', expected);
      assert.deepEqual(more, []);
    });
  for (const source of ['cron', 'http', 'object', 'result'])
    it(`with an empty ${source}, without an exception`, () => {
      const raw = {
        ...trigger({ cron }),
        spec: { ...trigger({ cron }).spec, cron: undefined, [source]: {} },
      };
      assert.deepEqual(causes(raw as unknown as Trigger), []);
    });
  it('with a name that leaves no room for the names of its events', () =>
    assert.match(causes(trigger({ cron }, 'a'.repeat(41)))[0] ?? '', /^metadata.name: Invalid/));
});

describe('an event', () => {
  const one = trigger({ cron: { schedule: '@hourly' } });
  const happening = { key: ['a', 'b'], type: 't', source: '/s', time: '2026-01-01T00:00:00Z' };
  const digest = (text: string) => Buffer.from(text).toString('hex').padEnd(64, '0');
  it('has the same name for the same cause, and another name for another', () => {
    const long = (text: string) => digest(text).slice(-64);
    const names = [
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'c'],
    ].map((key) => eventDraft(one, { ...happening, key }, long).spec.id);
    assert.equal(names[0], names[1]);
    assert.notEqual(names[0], names[2]);
  });
  it('belongs to its trigger', () => {
    const { ownerReferences, labels } = eventDraft(one, happening, digest).metadata;
    assert.deepEqual(labels, { 'minik8s.io/trigger': 't' });
    assert.equal(ownerReferences?.[0]?.uid, 'u1');
  });
  it('omits fields if it would be too large', () => {
    const data = 'x'.repeat(300_000);
    assert.deepEqual(eventDraft(one, { ...happening, data, lessData: { less: 1 } }, digest).spec.data, {
      less: 1,
    });
  });
  const stored = (spec: object = {}): TriggerEvent =>
    decode(triggerEventResource, {
      apiVersion: 'minik8s.io/v1',
      kind: 'TriggerEvent',
      metadata,
      spec: { trigger: 't', id: '1', type: 't', source: '/s', time: '2026-01-01T00:00:00Z', ...spec },
    });
  const { validate, validateUpdate } = triggerEventResource.strategy;
  it('can be replayed, and not changed otherwise', () => {
    assert.deepEqual(validateUpdate?.(stored({ replays: 1 }), stored()), []);
    assert.equal(validateUpdate?.(stored({ data: 1 }), stored())[0]?.field, 'spec');
    assert.equal(validateUpdate?.(stored({ id: '2' }), stored())[0]?.field, 'spec');
  });
  for (const [field, value] of Object.entries({
    trigger: 'A/b',
    id: 'x'.repeat(2000),
    time: 'now',
    depth: 99,
    replays: -1,
    data: 'x'.repeat(300_000),
  }))
    it(`is rejected with the ${field} ${String(value).slice(0, 10)}`, () =>
      assert.deepEqual(
        validate?.(stored({ [field]: value })).map((cause) => cause.field),
        [`spec.${field}`],
      ));
});

describe('the trigger of a path', () => {
  const at = (name: string, path: string, creationTimestamp: string) =>
    ({ metadata: { name, creationTimestamp }, spec: { http: { path } } }) as Trigger;
  const [old, young, other] = [
    at('b', '/a', '2026-01-01'),
    at('a', '/a', '2026-01-02'),
    at('c', '/b', '2025-01-01'),
  ];
  it('is the first that was created', () => assert.equal(triggerAt([young, other, old], '/a'), old));
  it('is the first by name if they were created at the same time', () =>
    assert.equal(triggerAt([at('d', '/a', '2026-01-01'), old], '/a'), old));
  it('does not exist if no trigger has the path', () => assert.equal(triggerAt([old], '/a/'), undefined));
});

testCells(
  triggerResource,
  'a trigger that works',
  {
    spec: { target: { name: 'f' }, http: { path: '/a' } },
    status: {
      delivered: 3,
      deadLetters: 1,
      lastTime: before(60),
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  },
  {
    Name: 'web',
    Source: 'http',
    Target: 'Function/f',
    Ready: 'True',
    Delivered: 3,
    Dead: 1,
    Last: '60s',
    Age: '95s',
  },
);
testCells(
  triggerResource,
  'a new trigger',
  { spec: { target: { kind: 'Workflow', name: 'w' }, cron: { schedule: '@daily' } } },
  { Source: 'cron', Target: 'Workflow/w', Ready: 'Unknown', Delivered: 0, Dead: 0, Last: '<none>' },
);
testCells(
  triggerEventResource,
  'a dead letter',
  {
    spec: { trigger: 't', id: '1', type: 'minik8s.io/cron', source: '/s', time: before(9) },
    status: { phase: 'Failed', attempts: 5, lastError: 'the function answered 500' },
  },
  {
    Name: 'web',
    Trigger: 't',
    Type: 'minik8s.io/cron',
    Phase: 'Failed',
    Attempts: 5,
    Error: 'the function answered 500',
    Age: '95s',
  },
);
testCells(
  triggerEventResource,
  'a trigger that is resumed',
  {
    spec: { trigger: 't', id: '1', type: 't', source: '/s', time: before(9), replays: 2 },
    status: { phase: 'Failed', replays: 1 },
  },
  { Phase: 'Pending', Attempts: 0, Error: '' },
);
testCells(
  folderWatchResource,
  'a folder that is watched',
  {
    spec: {
      ...{ trigger: 't', nodeName: 'n1', source: '/s', since: before(9), folder: '/srv', path: 'in' },
      types: ['Created'],
    },
    status: { reason: 'Watching' },
  },
  { Name: 'web', Trigger: 't', Node: 'n1', State: 'Watching', Folder: '/srv/in', Age: '95s' },
);

describe('a FolderWatch', () => {
  const watch = (spec: object, status?: object) =>
    decode(folderWatchResource, {
      apiVersion: 'minik8s.io/v1',
      kind: 'FolderWatch',
      metadata,
      spec: {
        ...{
          trigger: 't',
          nodeName: 'n1',
          source: '/s',
          since: before(9),
          folder: '/srv',
          types: ['Created'],
        },
        ...spec,
      },
      ...(status && { status }),
    });
  const { validate, validateUpdate } = folderWatchResource.strategy;
  it('cannot be changed', () => {
    assert.deepEqual(validateUpdate?.(watch({}), watch({})), []);
    assert.equal(validateUpdate?.(watch({ folder: '/etc' }), watch({}))[0]?.field, 'spec');
  });
  it('requires a trigger, a node and a folder, and has a message of at most 1024 characters', () => {
    assert.deepEqual(validate?.(watch({})), []);
    for (const field of ['trigger', 'nodeName', 'folder'])
      assert.equal(validate?.(watch({ [field]: '' }))[0]?.field, `spec.${field}`);
    assert.equal(validate?.(watch({}, { message: 'a'.repeat(1025) }))[0]?.field, 'status.message');
  });
});
