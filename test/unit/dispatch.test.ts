import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineCommand } from 'citty';
import { UsageError } from '../../src/base/usage-error.ts';
import type { Command } from '../../src/command-page.ts';
import { dispatch, type Entry } from '../../src/dispatch.ts';

function program(ran: unknown[]) {
  const entry = (command: Command): Entry => ({ about: 'does it', load: async () => command });
  const create = defineCommand({
    args: { ttl: { type: 'string', alias: 't' } },
    run: ({ args }) => void ran.push(['create', args.ttl]),
  });
  const table: Record<string, Entry> = {
    up: entry(
      defineCommand({
        args: {
          port: { type: 'string', default: '6443' },
          'data-dir': { type: 'string' },
          metrics: { type: 'boolean', default: true },
        },
        run: ({ args }) => void ran.push(['up', args.port, args['data-dir'], args.metrics]),
      }),
    ),
    token: entry({
      ...defineCommand({ subCommands: { create }, args: { ttl: { type: 'string', alias: 't' } } }),
      ...{ elsewhere: (name: string) => (name === 'expose' ? 'it is next door' : undefined) },
    }),
    like: {
      ...entry(
        defineCommand({ subCommands: { create, deep: defineCommand({ subCommands: { state: create } }) } }),
      ),
      like: 'kubectl',
    },
    exec: entry(
      defineCommand({
        args: { pod: { type: 'positional' }, host: { type: 'string', alias: 'h' } },
        run: ({ args }) => void ran.push(['exec', args._, args.host]),
      }),
    ),
    broken: { about: '', load: () => Promise.reject(new Error('disk full\nreally')) },
    refuses: entry(defineCommand({ run: () => Promise.reject(new UsageError('port: must be a number')) })),
  };
  return async (...argv: string[]) => {
    let [out, err] = ['', ''];
    const output = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
    const otherWords = { halt: 'end the process' };
    return { status: await dispatch(table, argv, output, otherWords), out, err };
  };
}

const runs: [argv: string[], ran: unknown[]][] = [
  [['up'], ['up', '6443', undefined, true]],
  [
    ['up', '--port', '1', '--data-dir=/x', '--no-metrics'],
    ['up', '1', '/x', false],
  ],
  [
    ['up', '--data-dir', '-1', '--port', '-2'],
    ['up', '-2', '-1', true],
  ],
  [
    ['exec', 'web', '--', '--host', '-1'],
    ['exec', ['web', '--host', '-1'], undefined],
  ],
  [
    ['up', '--metrics=true', '--metrics=false'],
    ['up', '6443', undefined, false],
  ],
  [
    ['exec', 'web', '--', '--metrics=false'],
    ['exec', ['web', '--metrics=false'], undefined],
  ],
  [
    ['token', '-t', '2h', 'create'],
    ['create', '2h'],
  ],
  [
    ['token', 'create', '-t', '1h'],
    ['create', '1h'],
  ],
  [
    ['exec', 'web', '--', 'ls', '-la'],
    ['exec', ['web', 'ls', '-la'], undefined],
  ],
  [
    ['exec', '-h', 'node-1', 'web'],
    ['exec', ['web'], 'node-1'],
  ],
];
for (const [argv, expected] of runs) {
  test(`minik8s ${argv.join(' ')} is dispatched to its program`, async () => {
    const ran: unknown[] = [];
    assert.deepEqual(await program(ran)(...argv), { status: 0, out: '', err: '' });
    assert.deepEqual(ran, [expected]);
  });
}

const refusals: [argv: string[], status: number, err: RegExp][] = [
  [['nope'], 2, /^error: minik8s: unknown command nope; known: up, token, like, exec, broken, refuses\n$/],
  [['--nope'], 2, /^error: minik8s: unknown flag --nope; known: .*\n$/],
  [['valueOf'], 2, /^error: minik8s: unknown command valueOf; known: /],
  [['up', '--prot', '1'], 2, /^error: minik8s up: unknown flag --prot: did you mean --port\?\n$/],
  [['up', '--port'], 2, /^error: minik8s up: option '--port <value>' argument missing; .*\n$/],
  [
    ['up', '--port', '--metrics'],
    2,
    /^error: minik8s up: --port needs a value; a value that begins with a dash is written --port=VALUE\n$/,
  ],
  [['token', 'create', '-t', '-x'], 2, /^error: minik8s token create: --ttl needs a value; a value .*\n$/],
  [['up', '--metrics=yes'], 2, /^error: minik8s up: --metrics takes no value but true or false.*\n$/],
  [['up', 'now'], 2, /^error: minik8s up: unexpected argument 'now'.*\n$/],
  [['up', '--frobnicate'], 2, /^error: minik8s up: unknown flag --frobnicate; see minik8s up --help\n$/],
  [['up', '--no-metrisc'], 2, /^error: minik8s up: unknown flag --no-metrisc: did you mean --metrics\?\n$/],
  [['ups'], 2, /^error: minik8s: unknown command ups: did you mean up\?\n$/],
  [['token', 'craete'], 2, /^error: minik8s token: unknown command craete: did you mean create\?\n$/],
  [['token', 'expose'], 2, /^error: minik8s token: unknown command expose: it is next door\n$/],
  [['like', 'nope'], 1, /^error: minik8s like: unknown command nope; known: create, deep\n$/],
  [['halt'], 2, /^error: minik8s: unknown command halt: end the process\n$/],
  [['creat'], 2, /^error: minik8s: unknown command creat: did you mean minik8s like create\?\n$/],
  [['state', 'x'], 2, /^error: minik8s: unknown command state: did you mean minik8s like deep state x\?\n$/],
  [
    ['like', 'state', 'x'],
    1,
    /^error: minik8s like: unknown command state: did you mean minik8s like deep state x\?\n$/,
  ],
  [['like', 'create', '--nope'], 1, /^error: minik8s like create: unknown flag --nope; .*\n$/],
  [['like', '--nope'], 1, /^error: minik8s like: unknown flag --nope; .*\n$/],
  [['token', 'make'], 2, /^error: minik8s token: unknown command make; known: create\n$/],
  [['token'], 2, /^error: minik8s token: say which: create\n$/],
  [['exec'], 2, /^error: Missing required positional argument: POD\n$/],
  [['refuses'], 2, /^error: port: must be a number\n$/],
  [['broken'], 1, /^error: disk full really\n$/],
];
for (const [argv, status, err] of refusals) {
  test(`minik8s ${argv.join(' ')} is refused in one line`, async () => {
    const ran: unknown[] = [];
    const result = await program(ran)(...argv);
    assert.equal(result.status, status);
    assert.match(result.err, err);
    assert.equal(result.out, '');
    assert.deepEqual(ran, []);
  });
}

test('help is printed without running anything', async () => {
  const ran: unknown[] = [];
  const minik8s = program(ran);
  assert.match((await minik8s('--help')).out, /Usage: minik8s COMMAND[\s\S]* {2}token +does it/);
  assert.equal((await minik8s()).status, 2);
  const { status, out } = await minik8s('up', '--help');
  assert.equal(status, 0);
  assert.match(out, /minik8s up[\s\S]*--data-dir/);
  assert.match((await minik8s('help', 'up')).out, /^Usage: minik8s up \[FLAGS\]$/m);
  assert.match((await minik8s('token', 'help', 'create')).out, /^Usage: minik8s token create \[FLAGS\]$/m);
  assert.match((await minik8s('token', 'help')).out, /^Usage: minik8s token COMMAND \[FLAGS\]$/m);
  const like = await minik8s('like');
  assert.deepEqual([like.status, like.err], [0, '']);
  assert.match(like.out, /^Usage: minik8s like COMMAND$/m);
  assert.deepEqual(ran, []);
});

test('the advice for a command of the client contains ctl and the rest of the line', async () => {
  const { status, err } = await program([])('create', 'pods', '-A');
  assert.equal(status, 2);
  assert.match(String(err), /minik8s: unknown command create: did you mean minik8s like create pods -A\?\n$/);
});
