/**
 * `npm run release`: makes dist/release with the executables for x64 and arm64, their digests, their parts
 * and the script that installs them. `--allow-changes` builds from a working tree with changes, `--output
 * DIR` elsewhere.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Architecture } from '../build/architecture.ts';
import { makeExecutable } from '../build/executable.ts';
import { buildVersion } from '../build/version.ts';
import { writeDigests } from './digests.ts';
import { fetchNode } from './fetch-node.ts';
import { partsOf, toolsOf } from './parts.ts';
import { sbom } from './sbom.ts';
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
    // Files of an earlier build could come from other tools, so none of them is used.
    const workdir = join(draft, `work-${arch}`);
    await makeExecutable({ root, workdir, arch, version, target, onStep });
    await rm(workdir, { recursive: true });
    await writeSbom(target, arch, version);
  }
  await copyFile(join(import.meta.dirname, 'install.sh'), join(draft, 'install.sh'));
  await chmod(join(draft, 'install.sh'), 0o755);
  await writeDigests(draft);
  await rm(output, { recursive: true, force: true });
  await rename(draft, output);
  for (const arch of released) {
    const { size } = await stat(join(output, `minik8s-linux-${arch}`));
    process.stdout.write(`${relative(root, output)}/minik8s-linux-${arch} ${version}, ${megabytes(size)}\n`);
  }
}

/** Writes the parts of an executable beside it. */
async function writeSbom(path: string, arch: Architecture, version: string): Promise<void> {
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  const [parts, tools] = [await partsOf(root, arch), await toolsOf(root, arch)];
  const seconds = await releaseTime();
  const document = sbom({ file: basename(path), version, digest, seconds, parts, tools });
  await writeFile(`${path}.cdx.json`, document, { mode: 0o644 });
}

/** Returns SOURCE_DATE_EPOCH, or else the time of the commit, in seconds; 0 outside a repository. */
async function releaseTime(): Promise<number> {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  if (given !== undefined) {
    if (!/^\d{1,11}$/.test(given))
      throw new Error(`SOURCE_DATE_EPOCH is ${given}, but must be seconds since 1970`);
    return Number(given);
  }
  const commit = promisify(execFile)('git', ['log', '-1', '--format=%ct'], { cwd: root });
  return commit.then(
    ({ stdout }) => Number(stdout),
    () => 0,
  );
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
