/**
 * `npm run release`: makes dist/release with the executables for x64 and arm64, their digests, their parts and
 * the script that installs them. `--allow-changes` builds from a working tree with changes, `--output DIR`
 * elsewhere.
 */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Architecture } from '../build/architecture.ts';
import { makeExecutable } from '../build/executable.ts';
import { buildVersion } from '../build/version.ts';
import { writeDigests } from './digests.ts';
import { fetchNode } from './fetch-node.ts';
import { requireTools } from './tools.ts';

const root = join(import.meta.dirname, '../..');
const released: readonly Architecture[] = ['x64', 'arm64'];

/** Everything is made in a folder beside the release, which replaces the former one when it is complete. */
async function release(output: string, allowsChanges: boolean): Promise<void> {
  const version = await buildVersion(root);
  if (version.endsWith('.dirty') && !allowsChanges)
    throw new Error('the working tree has changes: commit them, or add --allow-changes to try a build');
  await Promise.all(released.map(requireTools));
  const draft = `${output}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  for (const arch of released) {
    await fetchNode(root, arch);
    const target = join(draft, `minik8s-linux-${arch}`);
    const onStep = (name: string, milliseconds: number) => say(`${arch} ${name}`, milliseconds);
    // What was made before could come from other tools, so nothing of it is used.
    const workdir = join(draft, `work-${arch}`);
    await makeExecutable({ root, workdir, arch, version, target, onStep });
    await rm(workdir, { recursive: true });
  }
  await writeDigests(draft);
  await rm(output, { recursive: true, force: true });
  await rename(draft, output);
  for (const arch of released) {
    const { size } = await stat(join(output, `minik8s-linux-${arch}`));
    process.stdout.write(`${relative(root, output)}/minik8s-linux-${arch} ${version}, ${megabytes(size)}\n`);
  }
}

const say = (what: string, milliseconds: number) =>
  process.stdout.write(`${what}: ${(milliseconds / 1000).toFixed(1)} s\n`);

const megabytes = (size: number) => `${(size / 1e6).toFixed(1)} MB`;

try {
  const { values } = parseArgs({
    options: {
      'allow-changes': { type: 'boolean', default: false },
      output: { type: 'string', default: join(root, 'dist/release') },
    },
  });
  await release(resolve(values.output), values['allow-changes']);
} catch (error) {
  process.stderr.write(`release failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
