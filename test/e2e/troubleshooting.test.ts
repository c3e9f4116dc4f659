/**
 * docs/troubleshooting.md, followed to the letter: each error is provoked, and the advice of its entry
 * resolves it.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { printed, type TroubleEntry, troubleEntry } from '../fixtures/troubleshooting.ts';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { manifests, type Provoked, type Trouble, takenPort, troubles } from './harness/troubles.ts';
import { usualPlaces } from './harness/usual-places.ts';
import { waitFor } from './harness/wait-for.ts';

/** Returns the text that must be printed: the entry's text, then the text of the cause. */
function textOf({ text, causes }: TroubleEntry, { cause }: Provoked): RegExp {
  if (cause === undefined) return printed(text);
  const [found, ...more] = causes.filter((one) => one.includes(cause));
  assert.ok(found !== undefined && more.length === 0, `${text}: one cause has “${cause}”`);
  assert.ok(text.endsWith('…'));
  return new RegExp(printed(text.slice(0, -1)).source + printed(found).source);
}

test('each error of docs/troubleshooting.md is printed as documented and resolved by the advice', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host, flags: ['--log-level=info,apiserver=debug'] });
  const run = usualPlaces(host, cluster);
  for (const [name, manifest] of Object.entries(manifests))
    writeFileSync(join(host.directory, name), JSON.stringify(manifest));
  // The back-off begins after 10 s.
  await run('ctl apply -f pulled.json');
  await host.take(String(takenPort));

  const prints = (line: string, pattern: RegExp) =>
    waitFor(`${line}: ${pattern}`, async () => {
      const text = await run(line);
      if (!pattern.test(text)) throw new Error(text);
      return true;
    });
  const runCommands = async ({ commands = {}, replace = {} }: Trouble, entry: TroubleEntry) => {
    assert.deepEqual(Object.keys(commands), entry.commands, 'each command of the entry is run');
    for (const [command, pattern] of Object.entries(commands)) {
      if (pattern === undefined) continue;
      const line = Object.entries(replace).reduce((text, [word, by]) => text.replaceAll(word, by), command);
      assert.match(await run(line), pattern, line);
    }
  };
  const follow = async (
    { line, advice, ends, shown }: Provoked,
    text: RegExp,
    commands: () => Promise<void>,
  ) => {
    if (shown === undefined) assert.match(await run(line), text, line);
    else await prints(line, text);
    await commands();
    const done = await run(advice);
    if (shown !== undefined) return prints(shown, ends);
    assert.match(done, ends, advice);
    assert.doesNotMatch(done, text, advice);
  };

  const all = troubles(cluster.pid, host.address);
  for (const trouble of all) {
    const entry = troubleEntry(trouble.entry);
    await context.test(entry.text, async () => {
      const { errors = [] } = trouble;
      if (errors.length === 0) return runCommands(trouble, entry);
      for (const [index, error] of errors.entries())
        await follow(error, textOf(entry, error), async () => {
          if (index === 0) await runCommands(trouble, entry);
        });
      const causes = errors.flatMap(({ cause = [] }) => cause);
      assert.equal(causes.length, entry.causes.length, 'each cause is provoked');
    });
  }

  await context.test(
    'the commands for events, the support bundle and the id of a rejected request work',
    async () => {
      assert.match(await run('ctl events'), / Pod\/large /);
      assert.match(await run('minik8s support-bundle'), /minik8s-support-\S+\.tar\.gz/);
      const [, id = ''] = /^request id: (\S+)$/m.exec(await run('ctl get pod none -v 1')) ?? [];
      assert.notEqual(id, '');
      await waitFor('the id in the log', () => cluster.log.includes(id));
    },
  );
});
