/**
 * Two releases of the same commit, in two directories, with different umasks, time zones and languages, are
 * the same byte for byte; the executable for arm64 and the etcd inside run in an emulator. The commit is
 * built, not the changes of the working tree. Takes a minute, and ten where etcd is not in the cache of Go.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { emulatorFor } from '../../config/build/architecture.ts';
import { buildGoProgram } from '../../config/build/go-program.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

interface Place {
  readonly folder: string;
  readonly umask: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Builds a release from a clone, and returns its directory. */
async function releaseIn({ folder, umask, env }: Place): Promise<string> {
  await run('git', ['clone', '--quiet', '--no-hardlinks', root, folder]);
  // Links to the same files: a copy of the packages would take longer than the build.
  await run('cp', ['--archive', '--link', join(root, 'node_modules'), folder]);
  const script = `umask ${umask}; exec "$0" config/release/main.ts`;
  await run('bash', ['-c', script, process.execPath], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: homedir(), ...env },
  });
  return join(folder, 'dist/release');
}

const base = await mkdtemp(join(tmpdir(), 'minik8s-release-'));
await mkdir(join(base, 'a longer', 'name of a directory'), { recursive: true });
after(() => rm(base, { recursive: true, force: true }));

const places: readonly Place[] = [
  { folder: join(base, 'a'), umask: '022', env: { TZ: 'UTC', LANG: 'C' } },
  {
    folder: join(base, 'a longer/name of a directory/minik8s'),
    umask: '077',
    env: { TZ: 'Asia/Kathmandu', LANG: 'C.UTF-8', NODE_OPTIONS: '--no-warnings', GOAMD64: 'v3' },
  },
];
const releases: string[] = [];

for (const place of places)
  test(`a release is made with the umask ${place.umask}`, async () => {
    releases.push(await releaseIn(place));
  });

test('two releases of a commit are the same byte for byte', async () => {
  const [first = '', second = ''] = releases;
  const names = (await readdir(first)).sort();
  assert.ok(names.includes('minik8s-linux-x64') && names.includes('minik8s-linux-arm64'), names.join(' '));
  assert.deepEqual((await readdir(second)).sort(), names);
  for (const name of names) {
    const [one, other] = [await readFile(join(first, name)), await readFile(join(second, name))];
    assert.ok(one.equals(other), `${name} differs`);
  }
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: second });
});

test('the executable for arm64 runs', async () => {
  const [program = '', ...words] = [...emulatorFor('arm64'), join(releases[0] ?? '', 'minik8s-linux-arm64')];
  const x64 = await run(join(releases[0] ?? '', 'minik8s-linux-x64'), ['version']);
  assert.match(x64.stdout, /^\d+\.\d+\.\d+(\+g[0-9a-f]{12})?\n$/);
  assert.equal((await run(program, [...words, 'version'])).stdout, x64.stdout);
  const help = await run(program, [...words, 'up', '--help']);
  assert.match(help.stdout, /Run a whole cluster on this machine/);
});

test('the etcd inside the executable for arm64 runs', async () => {
  const path = join(base, 'etcd');
  await buildGoProgram(root, 'etcd', 'arm64', path);
  const executable = await readFile(join(releases[0] ?? '', 'minik8s-linux-arm64'));
  assert.ok(executable.includes(await readFile(path)), 'another etcd is inside');
  const [program = '', ...words] = [...emulatorFor('arm64'), path];
  assert.match((await run(program, [...words, '--version'])).stdout, /etcd Version: 3\./);
});
