/**
 * docs/functions.md, workflows.md and triggers.md as written: every block of commands that does not require
 * another start of minik8s.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { Host } from './harness/host.ts';
import { root } from './harness/readme-commands.ts';
import { waitFor } from './harness/wait-for.ts';

const image = `minik8s-test/docs-python:${process.pid}`;

/** Returns the blocks of a document, each as one script. */
const blocksOf = (document: string) =>
  [...readFileSync(join(root, 'docs', document), 'utf8').matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) =>
    block.replace(/^ {4}/gm, ''),
  );

test('the guides to functions, workflows and triggers can be followed as written', async (context) => {
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  await makeRuntimeImage('python', image);
  const host = await Host.start(context, { images: [image] });
  const watched = join(host.directory, 'in');
  const work = join(host.directory, 'work');
  for (const folder of [watched, work]) mkdirSync(folder);
  const flags = ['--python-image', image, '--watch-folder', watched];
  const cluster = await Cluster.start(context, { host, flags });
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  const run = async (block: string) => {
    // Replaces the guide's folder, which belongs to the whole machine.
    const script = `set -e\nminik8s() { '${executable}' "$@"; }\n${block.replaceAll('/srv/in', watched)}`;
    const options = { env, cwd: work, timeoutMs: 150_000 };
    return (await systemExec(...host.command('bash', ['-c', script]), options)).stdout;
  };
  const says = (block: string, wanted: RegExp) =>
    waitFor(`${block} says ${wanted}`, async () => {
      const said = await run(block);
      if (!wanted.test(said)) throw new Error(said);
      return said;
    });

  await context.test('the commands of functions.md work', async () => {
    // The first block builds and loads the images of runtimes, which ways-in.test.ts tests.
    const [images = '', first = '', ...others] = blocksOf('functions.md');
    assert.match(images, /^bin\/make-runtimes$/m);
    assert.match(await run(first), /^\{"hello":"you","A":"1"\}$/m);
    assert.deepEqual(others, []);
  });

  await context.test('the commands of workflows.md work', async () => {
    const blocks = blocksOf('workflows.md');
    assert.equal(blocks.length, 1);
    const said = await run(blocks[0] ?? '');
    assert.match(said, /"hello": ?"you"/);
    assert.match(said, /Somebody/);
    await assert.rejects(run('minik8s ctl workflow run greet'), /NoName/);
  });

  await context.test('the commands of triggers.md work', async () => {
    const [door = '', objects = '', files = '', letters = '', ...more] = blocksOf('triggers.md');
    assert.deepEqual(more, []);
    const logs = 'minik8s ctl function logs note';
    // The last command prints what has arrived by then.
    const fired = await run(door);
    const [, id = ''] = /^event (\S+) of trigger\/door is stored$/m.exec(fired) ?? [];
    assert.notEqual(id, '', fired);
    await says(logs, new RegExp(`^got ${RegExp.escape(id)} .*"who": "you"`, 'm'));
    await run(objects);
    await says(logs, /"name": "pot"/);
    await run(files);
    await says(logs, /"path": "one.csv".*a,b/);
    await run(letters);
  });
});
