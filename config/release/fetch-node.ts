/**
 * Fetches Node for another architecture than this machine's. npm installs no package of another architecture,
 * so its archive is fetched by npm and compared with the digest in package-lock.json.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Architecture } from '../build/architecture.ts';
import { foreignNode } from '../build/node-program.ts';

const run = promisify(execFile);

interface Locked {
  readonly version: string;
  readonly integrity: string;
}

/** Returns a package's version and digest in the text of package-lock.json. Throws if it is not there. */
export function lockedPackage(lockFile: string, name: string): Locked {
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, Partial<Locked>> };
  const { version, integrity } = packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined)
    throw new Error(`package-lock.json has no digest of ${name}; add it to optionalDependencies`);
  return { version, integrity };
}

/** Throws unless `content` has the digest, which is in the form of package-lock.json. */
export function requireIntegrity(name: string, content: Uint8Array, integrity: string): void {
  const [algorithm = ''] = integrity.split('-', 1);
  const found = `${algorithm}-${createHash(algorithm).update(content).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${name} has the digest ${found}, but package-lock.json has ${integrity}`);
}

/** Does nothing if the version of package-lock.json is there. */
export async function fetchNode(root: string, arch: Architecture): Promise<void> {
  if (arch === process.arch) return;
  const name = `node-linux-${arch}`;
  const { version, integrity } = lockedPackage(await readFile(join(root, 'package-lock.json'), 'utf8'), name);
  const target = foreignNode(root, arch);
  if (existsSync(target) && (await versionIn(target)) === version) return;
  await mkdir(dirname(target), { recursive: true });
  const draft = await mkdtemp(`${target}.`);
  try {
    const pack = ['pack', '--silent', '--pack-destination', draft, `${name}@${version}`];
    const { stdout } = await run('npm', pack, { cwd: root });
    const archive = join(draft, stdout.trim());
    requireIntegrity(`${name}@${version}`, await readFile(archive), integrity);
    await run('tar', ['--extract', '--no-same-owner', '--file', archive, '--directory', draft]);
    await rm(target, { recursive: true, force: true });
    await rename(join(draft, 'package'), target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function versionIn(folder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  return version;
}
