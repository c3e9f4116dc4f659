/** `ctl function update`: changes of other clients, removed files, and the wait for the new version. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Verb } from '../../../../../src/cli/verb.ts';
import { functions } from '../../../../../src/features/functions/ctl/function.ts';
import { startVerbWorld, type VerbWorld } from '../../../../fixtures/verb-world.ts';

const path = '/apis/minik8s.io/v1/namespaces/default/functions';
const merge = 'application/merge-patch+json';
const verb = (name: string): Verb => functions.verbs[name] ?? assert.fail(`there is no verb ${name}`);

describe('ctl function update', () => {
  let world: VerbWorld;
  let folder: string;
  before(async () => {
    world = await startVerbWorld();
    folder = mkdtempSync(join(tmpdir(), 'minik8s-function-'));
    writeFileSync(join(folder, 'main.py'), 'def handler(event): return 2\n');
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await world.stop();
  });
  const make = (name: string) =>
    world.send('POST', path, {
      ...{ apiVersion: 'minik8s.io/v1', kind: 'Function', metadata: { name } },
      spec: { runtime: 'python', files: { 'main.py': 'def handler(event): return 1\n', 'old.py': '' } },
    });
  const specOf = async (name: string) =>
    (await world.send('GET', `${path}/${name}`)).spec as {
      files: Record<string, string>;
      timeoutSeconds: number;
      maxScale: number;
    };

  it('removes the files that the folder no longer has, and keeps the other settings', async () => {
    await make('a');
    await world.run(verb('update'), ['a', '--timeout=7']);
    const { status, out } = await world.run(verb('update'), ['a', '--from', folder], {
      usesMachine: true,
    });
    assert.deepEqual([status, out], [0, 'function/a updated\n']);
    const { files, timeoutSeconds } = await specOf('a');
    assert.deepEqual([Object.keys(files), timeoutSeconds], [['main.py'], 7]);
  });

  it('does not overwrite the change of another client between its read and its write', async () => {
    await make('b');
    let writes = 0;
    const { status } = await world.run(verb('update'), ['b', '--timeout=7'], {
      before: async ({ method }) => {
        if (method === 'PATCH' && writes++ === 0)
          await world.send('PATCH', `${path}/b`, { spec: { maxScale: 3 } }, merge);
      },
    });
    assert.equal(status, 1);
    const { maxScale, timeoutSeconds } = await specOf('b');
    assert.deepEqual([maxScale, timeoutSeconds], [3, 30]);
  });

  it('waits with --wait for the condition of the new version, not that of the old one', async () => {
    const { metadata } = await make('c');
    const { generation } = metadata as { generation: number };
    const ready = (message: string, status: string, reason: string, observedGeneration: number) => ({
      status: {
        observedGeneration,
        conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }],
      },
    });
    const report = (body: object) => world.send('PATCH', `${path}/c/status`, body, merge);
    await report(ready('', 'True', 'Ready', generation));
    world.server.clock.after(
      5_000,
      () => void report(ready('SyntaxError: line 1', 'False', 'BuildFailed', generation + 1)),
    );
    const { status, out, err } = await world.run(verb('update'), ['c', '--timeout=7', '--wait']);
    assert.deepEqual([status, out], [1, 'function/c updated\n']);
    assert.match(err, /^error: .*SyntaxError: line 1\n$/);
  });
});
