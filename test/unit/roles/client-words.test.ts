/** Words after `minik8s ctl` that are no commands. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { commands, otherWords } from '../../../src/command-table.ts';
import { dispatch, type Entry } from '../../../src/dispatch.ts';

/** Table of commands whose entries are loaded once each, as in a process. */
const table: Record<string, Entry> = Object.fromEntries(
  Object.entries(commands).map(([name, entry]) => {
    let loaded: ReturnType<Entry['load']> | undefined;
    return [name, { ...entry, load: () => (loaded ??= entry.load()) }];
  }),
);
after(() => process.stdout.removeAllListeners('error'));

async function errorOf(line: string): Promise<string> {
  let text = '';
  const output = { out: (more: string) => assert.fail(more), err: (more: string) => (text += more) };
  assert.notEqual(await dispatch(table, line.split(' '), output, otherWords), 0);
  return text.trimEnd();
}

const of = (path: string, word: string) => `error: ${path}: unknown command ${word}: `;

for (const [line, get] of [
  ['ctl nodes', 'get nodes'],
  ['ctl node worker-1 -o yaml', 'get node worker-1 -o yaml'],
  ['ctl svc', 'get svc'],
  ['ctl pods -A', 'get pods -A'],
  ['ctl Deployment', 'get Deployment'],
  ['ctl quota', 'get quota'],
  ['ctl functionversions', 'get functionversions'],
] as const)
  test(`minik8s ${line} suggests minik8s ctl ${get}`, async () => {
    const [, word = ''] = line.split(' ');
    const advice = `${word} is a kind of object: did you mean minik8s ctl ${get}?`;
    assert.equal(await errorOf(line), of('minik8s ctl', word) + advice);
  });

test('minik8s nodes, without ctl, suggests the whole command', async () => {
  const advice = 'nodes is a kind of object: did you mean minik8s ctl get nodes -o wide?';
  assert.equal(await errorOf('nodes -o wide'), of('minik8s', 'nodes') + advice);
});

test('a command of another client, such as docker ps, suggests the equivalent of minik8s', async () => {
  assert.match(await errorOf('ctl ps'), /unknown command ps: minik8s ctl get pods -A lists the pods/);
  assert.match(
    await errorOf('ctl stop web'),
    /unknown command stop: minik8s ctl scale deployment NAME --rep/,
  );
});

test('check, diagnose and ctl doctor suggest minik8s doctor', async () => {
  for (const line of ['check', 'diagnose', 'ctl check', 'ctl diagnose', 'ctl doctor'])
    assert.match(await errorOf(line), /unknown command \w+: minik8s doctor /, line);
});

test('a mistyped command suggests the right one, and a command that ctl lacks suggests where to find it', async () => {
  assert.match(await errorOf('ctl delet pod a'), /unknown command delet: did you mean delete\?$/);
  assert.match(
    await errorOf('ctl status'),
    /unknown command status: did you mean minik8s status, without ctl\?$/,
  );
  assert.match(await errorOf('ctl tokenreviews'), /unknown command tokenreviews; see minik8s ctl --help$/);
  assert.match(await errorOf('ctl alpha events'), /kubectl's alpha commands change/);
});
