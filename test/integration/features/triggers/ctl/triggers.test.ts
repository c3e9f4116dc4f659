/** `ctl trigger` against a server; the controller that delivers events does not run here. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import type { TriggerEvent } from '../../../../../src/features/triggers/api/trigger-event.ts';
import { type Ctl, ctlFor } from '../../../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../../../fixtures/https-api-server.ts';

const group = '/apis/minik8s.io/v1/namespaces/default';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

let server: HttpsTestServer;
let ctl: Ctl;
before(async () => {
  const functionCalls = { master: 'here', reachesPod: () => true, writeDemand: () => Promise.resolve() };
  server = await startHttpsTestServer({ clock: systemClock, functionCalls });
  ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
});
after(() => server.stop());

const run = async (...args: string[]) => {
  const { status, out, err } = await ctl(['trigger', ...args]);
  assert.equal(status, 0, err);
  return out;
};
const spec = async (name: string) =>
  (await server.call('GET', `${group}/triggers/${name}`)).json<Trigger>().spec;
const eventsOf = async () =>
  (await server.call('GET', `${group}/triggerevents`)).json<{ items: TriggerEvent[] }>().items;

describe('ctl trigger create', () => {
  it('creates a trigger with a schedule', async () => {
    const args = [
      '--function',
      'f',
      '--schedule',
      '*/5 * * * *',
      '--time-zone',
      'Europe/Berlin',
      '--input',
      '{"a":1}',
    ];
    assert.equal(await run('create', 'by-time', ...args, '--max-attempts', '3'), 'trigger/by-time created\n');
    const { target, cron, input, retry } = await spec('by-time');
    assert.deepEqual(
      [target, cron?.schedule, cron?.timeZone, input, retry.maxAttempts],
      [{ kind: 'Function', name: 'f' }, '*/5 * * * *', 'Europe/Berlin', { a: 1 }, 3],
    );
  });
  it('creates a trigger with a path', async () => {
    await run(
      'create',
      'by-path',
      '--workflow',
      'w',
      '--path',
      '/a',
      '--method',
      'POST',
      '--method',
      'PUT',
      '--public',
    );
    const { target, http } = await spec('by-path');
    assert.deepEqual(
      [target.kind, http],
      ['Workflow', { path: '/a', methods: ['POST', 'PUT'], public: true }],
    );
  });
  it('creates a trigger on objects', async () => {
    const which = [
      '-l',
      'app=web',
      '--field-selector',
      'metadata.name=a',
      '--change',
      'Created',
      '--serviceaccount',
      'sa',
    ];
    await run('create', 'by-object', '--function', 'f', '--object', 'apps/v1/Deployment', ...which);
    const { object, serviceAccountName } = await spec('by-object');
    assert.deepEqual(object, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      labelSelector: 'app=web',
      fieldSelector: 'metadata.name=a',
      types: ['Created'],
    });
    assert.equal(serviceAccountName, 'sa');
  });
  it('creates a trigger on results', async () => {
    await run('create', 'by-result', '--function', 'f', '--result-of', 'g', '--outcome', 'Failure');
    assert.deepEqual((await spec('by-result')).result, { function: 'g', outcomes: ['Failure'] });
  });
  it('creates a trigger on files', async () => {
    const which = ['--pattern', '*.csv', '--change', 'Created', '--recursive', '--include-content'];
    await run('create', 'by-claim', '--function', 'f', '--file-claim', 'data/in/new', ...which);
    const more = { pattern: '*.csv', types: ['Created'], recursive: true, includeContent: true };
    assert.deepEqual((await spec('by-claim')).file, { claimName: 'data', path: 'in/new', ...more });
    const where = ['--file-folder', '/srv/in', '--node-selector', 'disk=big,zone='];
    await run('create', 'by-folder', '--function', 'f', ...where);
    const { folder, nodeSelector } = (await spec('by-folder')).file ?? {};
    assert.deepEqual([folder, nodeSelector], ['/srv/in', { disk: 'big', zone: '' }]);
  });
  for (const [flag, value, where] of [
    ['--file-folder', '/srv/none', '/srv/none is watched on each node whose --watch-folder allows it'],
    ['--file-claim', 'data', 'data is watched once the claim is bound to a volume'],
  ] as const)
    it(`with ${flag} prints where files are watched, and the command it names shows the trigger`, async () => {
      const name = `where${flag}`;
      const create = ['trigger', 'create', name, '--function', 'f', flag, value];
      const { status, out, err } = await ctl(create);
      assert.deepEqual([status, out], [0, `trigger/${name} created\n`]);
      assert.equal(err, `${where}; minik8s ctl describe trigger ${name} shows whether it is\n`);
      assert.match((await ctl(['describe', 'trigger', name])).out, new RegExp(`^Name: +${name}$`, 'm'));
      for (const quiet of [['--dry-run=client'], ['--dry-run=server'], ['-o', 'name']])
        assert.equal((await ctl([...create.with(2, `${name}-2`), ...quiet])).err, '');
    });
  it('prints the object that it would create', async () => {
    const out = await run(
      'create',
      'x',
      '--function',
      'f',
      '--schedule',
      '@daily',
      '--dry-run=client',
      '-o',
      'yaml',
    );
    assert.match(out, /kind: Trigger[\s\S]*schedule: '@daily/);
  });
  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['without a target', ['--schedule', '@daily'], /one of --function and --workflow/],
    ['with two targets', ['--function', 'f', '--workflow', 'w', '--schedule', '@daily'], /one of --function/],
    ['without a source', ['--function', 'f'], /one of --schedule, --path, --object, --result-of/],
    ['with two sources', ['--function', 'f', '--path', '/a', '--schedule', '@daily'], /say when: one of/],
    [
      'with a flag of another source',
      ['--function', 'f', '--path', '/a', '--change', 'Created'],
      /--change is for --object and --file-claim and --file-folder/,
    ],
    [
      'with a nodeSelector for a claim',
      ['--function', 'f', '--file-claim', 'a', '--node-selector', 'a=b'],
      /--node-selector is for --file-folder/,
    ],
    [
      'with invalid labels',
      ['--function', 'f', '--file-folder', '/a', '--node-selector', 'a'],
      /--node-selector takes KEY=VALUE/,
    ],
    ['with an object without a version', ['--function', 'f', '--object', 'Pod'], /VERSION\/KIND/],
    [
      'with input that is not JSON',
      ['--function', 'f', '--path', '/a', '--input', '{'],
      /--input is not JSON/,
    ],
    ['with a path that the server refuses', ['--function', 'f', '--path', 'a'], /spec\.http\.path/],
  ];
  for (const [name, args, message] of wrong)
    it(`${name} is refused`, async () => {
      const { status, err } = await ctl(['trigger', 'create', 'wrong', ...args]);
      assert.equal(status, 1);
      assert.match(err, message);
    });
});

describe('ctl trigger', () => {
  it('fires a trigger, shows its events, and replays dead letters by name or all at once', async () => {
    await run('create', 'one', '--function', 'f', '--path', '/one', '--method', 'PUT');
    for (let n = 0; n < 3; n++) {
      const out = await run('fire', 'one', `{"n":${n}}`);
      assert.match(out, /^event [0-9a-f]{32} of trigger\/one is stored\n$/);
    }
    await run('fire', 'by-time');
    assert.equal((await run('events', 'one', '--no-headers')).trim().split('\n').length, 3);
    assert.equal((await run('events', '-o', 'name')).trim().split('\n').length, 4);
    const [first, second] = (await eventsOf()).filter((event) => event.spec.trigger === 'one');
    assert.ok(first && second);
    assert.equal(first.spec.type, 'minik8s.io/http.request');
    const { name } = first.metadata;
    const pending = await ctl(['trigger', 'replay', 'one', name]);
    assert.deepEqual([pending.status, pending.out], [1, '']);
    assert.match(pending.err, /has no dead letter/);
    for (const { metadata } of [first, second]) {
      const status = { phase: 'Failed', attempts: 5, lastError: 'no' };
      const path = `${group}/triggerevents/${metadata.name}/status`;
      assert.equal((await server.call('PATCH', path, { status }, merge)).status, 200);
    }
    assert.equal(await run('replay', 'one', name), `triggerevent/${name} is delivered again\n`);
    assert.equal(
      await run('replay', 'one', '--all'),
      `triggerevent/${second.metadata.name} is delivered again\n`,
    );
    assert.equal(await run('replay', 'one', '--all'), 'trigger/one has no dead letters\n');
    assert.deepEqual((await eventsOf()).map(({ spec }) => spec.replays).toSorted(), [0, 0, 1, 1]);
  });
  it('shows, describes and deletes a trigger', async () => {
    assert.match(await run('get', 'by-time'), /by-time +cron +Function\/f +Unknown/);
    assert.match(await run('describe', 'by-time'), /Source: +schedule \*\/5/);
    assert.match(await run('delete', 'by-time'), /"?by-time"? deleted/);
  });
  it('lists its subcommands', async () => {
    for (const args of [['create'], ['fire'], ['replay', 'one'], ['replay', '--all'], ['events', 'a', 'b']]) {
      const { status, err } = await ctl(['trigger', ...args]);
      assert.deepEqual([status, err !== ''], [1, true], args.join(' '));
    }
  });
  it('fails for a trigger that does not exist', async () => {
    for (const verb of ['fire', 'get', 'describe', 'delete'])
      assert.match((await ctl(['trigger', verb, 'nobody'])).err, /not found/);
    assert.match((await ctl(['trigger', 'replay', 'nobody', '--all'])).err, /not found/);
  });
});
