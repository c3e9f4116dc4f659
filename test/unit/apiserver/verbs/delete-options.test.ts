/** Options of a DELETE in its body or its query; a DELETE with invalid options deletes nothing. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kubernetesMessages } from '../../../../src/api/message-table.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { maxGrownValues } from '../../../../src/apimachinery/value-limit.ts';
import type { RequestScope } from '../../../../src/apiserver/request/request-scope.ts';
import { parseDeleteFields, readDeleteOptions } from '../../../../src/apiserver/verbs/delete-options.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const nothing = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  preconditions: {},
  dryRun: false,
  withDependents: false,
};

describe('fields of DeleteOptions', () => {
  for (const [title, fields, expected] of [
    ['none', {}, {}],
    ['nulls', { gracePeriodSeconds: null, preconditions: null, dryRun: null, propagationPolicy: null }, {}],
    ['a grace period', { gracePeriodSeconds: 5 }, { gracePeriodSeconds: 5 }],
    ['no grace', { gracePeriodSeconds: 0 }, { gracePeriodSeconds: 0 }],
    ['a negative grace period', { gracePeriodSeconds: -1 }, { gracePeriodSeconds: -1 }],
    ['Orphan', { propagationPolicy: 'Orphan' }, { propagationPolicy: 'Orphan' }],
    ['Background', { propagationPolicy: 'Background' }, { propagationPolicy: 'Background' }],
    ['Foreground', { propagationPolicy: 'Foreground' }, { propagationPolicy: 'Foreground' }],
    ['an empty policy', { propagationPolicy: '' }, {}],
    ['the older field for orphans', { orphanDependents: true }, { propagationPolicy: 'Orphan' }],
    ['no orphans', { orphanDependents: false }, { propagationPolicy: 'Background', withDependents: true }],
    [
      'a null for orphans',
      { orphanDependents: null, propagationPolicy: 'Orphan' },
      { propagationPolicy: 'Orphan' },
    ],
    [
      'orphans, and an empty policy',
      { orphanDependents: true, propagationPolicy: '' },
      { propagationPolicy: 'Orphan' },
    ],
    [
      'orphans, and a null policy',
      { orphanDependents: true, propagationPolicy: null },
      { propagationPolicy: 'Orphan' },
    ],
    ['a uid', { preconditions: { uid: 'u' } }, { preconditions: { uid: 'u' } }],
    ['a version', { preconditions: { resourceVersion: '7' } }, { preconditions: { resourceVersion: '7' } }],
    ['null conditions', { preconditions: { uid: null, resourceVersion: null } }, {}],
    ['a dry run', { dryRun: ['All'] }, { dryRun: true }],
    ['no dry run', { dryRun: [] }, {}],
  ] as const)
    test(`with ${title}`, () => assert.deepEqual(parseDeleteFields(fields, []), { ...nothing, ...expected }));

  for (const [title, fields, code, message] of [
    [
      'a text as grace period',
      { gracePeriodSeconds: 'soon' },
      422,
      /gracePeriodSeconds: .*must be an integer/,
    ],
    ['half a second', { gracePeriodSeconds: 0.5 }, 422, /must be an integer/],
    ['no number', { gracePeriodSeconds: Number.NaN }, 422, /must be an integer/],
    [
      'another policy',
      { propagationPolicy: 'All' },
      422,
      /propagationPolicy: .*"Orphan", "Background", "Foreground"/,
    ],
    ['an invalid policy', { propagationPolicy: false }, 422, /propagationPolicy/],
    [
      'a policy and orphans',
      { propagationPolicy: 'Orphan', orphanDependents: true },
      422,
      /propagationPolicy: .*cannot be both set/,
    ],
    [
      'a policy and no orphans',
      { propagationPolicy: 'Orphan', orphanDependents: false },
      422,
      /propagationPolicy: .*cannot be both set/,
    ],
    ['a text as preconditions', { preconditions: 'u' }, 400, /preconditions must be an object/],
    ['a list as preconditions', { preconditions: [] }, 400, /preconditions must be an object/],
    ['a uid that is a number', { preconditions: { uid: 1 } }, 400, /preconditions must be strings/],
    [
      'a version that is a number',
      { preconditions: { resourceVersion: 1 } },
      400,
      /preconditions must be strings/,
    ],
    ['a text as dry run', { dryRun: 'All' }, 400, /dryRun must be a list of strings/],
    ['a dry run of numbers', { dryRun: ['All', 1] }, 400, /dryRun must be a list of strings/],
    ['another dry run', { dryRun: ['Some'] }, 422, /dryRun: .*"All"/],
  ] as const)
    test(`with ${title} are refused`, () =>
      assert.throws(
        () => parseDeleteFields(fields, []),
        (error) => error instanceof StatusError && error.status.code === code && message.test(error.message),
      ));

  test('are rejected if they are no DeleteOptions', () =>
    assert.throws(
      () => parseDeleteFields({ gracePeriodSeconds: 'soon' }, []),
      (error) => {
        const { group, kind } = (error as StatusError).status.details ?? {};
        assert.deepEqual([group, kind], ['meta.k8s.io', 'DeleteOptions']);
        return true;
      },
    ));

  test('apply together with a dry run in the query', () => {
    assert.equal(parseDeleteFields({}, ['All']).dryRun, true);
    assert.throws(() => parseDeleteFields({ dryRun: ['All'] }, ['Some']), /dryRun/);
  });
});

describe('DeleteOptions of a request', () => {
  const read = (query: string, body?: object, pause = async () => {}) =>
    readDeleteOptions({
      work: { pause },
      request: new Request(`https://x/?${query}`, {
        method: 'DELETE',
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
      query: new URLSearchParams(query),
      user: { name: 'admin', groups: [] },
      server: { clock: new FakeClock(), messages: kubernetesMessages },
    } as unknown as RequestScope);

  for (const [query, expected] of [
    ['', {}],
    ['gracePeriodSeconds=0', { gracePeriodSeconds: 0 }],
    ['gracePeriodSeconds=-1', { gracePeriodSeconds: -1 }],
    ['gracePeriodSeconds=30', { gracePeriodSeconds: 30 }],
    ['propagationPolicy=Orphan', { propagationPolicy: 'Orphan' }],
    ['orphanDependents=true', { propagationPolicy: 'Orphan' }],
    ['orphanDependents=', { propagationPolicy: 'Orphan' }],
    ['orphanDependents=false', { propagationPolicy: 'Background', withDependents: true }],
    ['orphanDependents=0', { propagationPolicy: 'Background', withDependents: true }],
    ['dryRun=All', { dryRun: true }],
  ] as const)
    test(`are read from ?${query}`, async () =>
      assert.deepEqual(await read(query), { ...nothing, ...expected }));

  for (const query of [
    'gracePeriodSeconds=',
    'gracePeriodSeconds=5s',
    'gracePeriodSeconds=+5',
    'propagationPolicy=x',
  ])
    test(`are refused with ?${query}`, () => assert.rejects(read(query), StatusError));

  test('are read from the body if there is one', async () => {
    assert.deepEqual(await read('gracePeriodSeconds=1&propagationPolicy=Orphan', { gracePeriodSeconds: 9 }), {
      ...nothing,
      gracePeriodSeconds: 9,
    });
    assert.deepEqual(await read('gracePeriodSeconds=1', {}), { ...nothing, gracePeriodSeconds: 1 });
    assert.deepEqual(await read('dryRun=All', { gracePeriodSeconds: 9 }), {
      ...nothing,
      gracePeriodSeconds: 9,
      dryRun: true,
    });
  });

  test('are read in two turns: one for parsing the body and one for counting its values', async () => {
    const large = { dryRun: Array.from({ length: maxGrownValues + 1 }, () => 'All') };
    await assert.rejects(read('', large), /values/);
    const pause = () => Promise.reject(new Error('the turn of another request'));
    await assert.rejects(read('', large, pause), /the turn of another request/);
  });

  test('are rejected if the body is of another kind', () =>
    assert.rejects(read('', { kind: 'Pod' }), /the body must be a DeleteOptions/));
});
