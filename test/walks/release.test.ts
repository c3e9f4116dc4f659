/**
 * Two releases of the same commit, in two directories, with different umasks, time zones and languages, are
 * the same byte for byte; the executable for arm64 and the programs inside run in an emulator. The commit is
 * built, not the changes of the tree. Takes a minute, or ten minutes if etcd is not in the cache of Go.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { emulatorFor } from '../../config/build/architecture.ts';
import { compressed } from '../../config/build/compress.ts';
import { goProgram } from '../../config/build/go.ts';
import { buildGoProgram, type GoProgram } from '../../config/build/go-program.ts';
import { fetchNode } from '../../config/release/fetch-node.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

interface Place {
  readonly folder: string;
  readonly umask: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Builds a release of the commit from a clone, and returns its directory. */
async function releaseIn({ folder, umask, env }: Place): Promise<string> {
  await run('git', ['clone', '--quiet', '--no-hardlinks', '--no-checkout', root, folder]);
  await run('git', ['-C', folder, 'checkout', '--quiet', '--detach', commit]);
  // Links to the same files: a copy of the packages would take longer than the build.
  await run('cp', ['--archive', '--link', join(root, 'node_modules'), folder]);
  const script = `umask ${umask}; exec "$0" config/release/main.ts`;
  await run('bash', ['-c', script, process.execPath], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: homedir(), ...env },
  });
  return join(folder, 'dist/release');
}

// Another commit may be made while the first release is built.
const commit = (await run('git', ['-C', root, 'rev-parse', 'HEAD'])).stdout.trim();
// The environment may set the registry of packages, but the builds do not get the environment.
await fetchNode(root, 'arm64');
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
  test(`a release is made with the umask ${place.umask}`, { timeout: 1_800_000 }, async () => {
    releases.push(await releaseIn(place));
  });

/** Describes where two files differ, by which the part of an executable is found. */
function differenceOf(one: Buffer, other: Buffer): string {
  const length = Math.min(one.length, other.length);
  let [count, first, last] = [0, -1, -1];
  for (let index = 0; index < length; index++) {
    if (one[index] === other[index]) continue;
    if (count++ === 0) first = index;
    last = index;
  }
  return `${one.length} and ${other.length} bytes, of which ${count} differ, from offset ${first} to ${last}`;
}

test('two releases of a commit are the same byte for byte', async () => {
  const [first = '', second = ''] = releases;
  const names = (await readdir(first)).sort();
  assert.ok(names.includes('minik8s-linux-x64') && names.includes('minik8s-linux-arm64'), names.join(' '));
  assert.deepEqual((await readdir(second)).sort(), names);
  const differing: string[] = [];
  for (const name of names) {
    const [one, other] = [await readFile(join(first, name)), await readFile(join(second, name))];
    if (!one.equals(other)) differing.push(`${name}: ${differenceOf(one, other)}`);
  }
  assert.deepEqual(differing, []);
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

/** Builds a Go program for arm64, and returns its path; the executable must contain it, compressed. */
async function programInside(name: GoProgram): Promise<string> {
  const path = join(base, name);
  await buildGoProgram(root, name, 'arm64', path);
  const executable = await readFile(join(releases[0] ?? '', 'minik8s-linux-arm64'));
  assert.ok(executable.includes(await compressed(await readFile(path))), `another ${name} is inside`);
  return path;
}

test('the etcd inside the executable for arm64 runs', async () => {
  const [program = '', ...words] = [...emulatorFor('arm64'), await programInside('etcd')];
  assert.match((await run(program, [...words, '--version'])).stdout, /etcd Version: 3\./);
});

test('the kustomize inside the executable for arm64 has the same output as the one for x64', async () => {
  const folder = join(base, 'kustomization');
  await mkdir(folder);
  await writeFile(
    join(folder, 'kustomization.yaml'),
    'namePrefix: own-\nconfigMapGenerator:\n- name: settings\n  literals: [colour=green]\n',
  );
  const [program = '', ...words] = [...emulatorFor('arm64'), await programInside('kustomize')];
  const built = (await run(program, [...words, folder])).stdout;
  assert.match(built, /^ {2}name: own-settings-\w{10}$/m);
  const x64 = [join(releases[0] ?? '', 'minik8s-linux-x64'), 'ctl', 'kustomize', folder] as const;
  const env = { ...process.env, HOME: base };
  assert.equal(built, (await run(x64[0], x64.slice(1), { env })).stdout);
});

test('the CycloneDX documents list the modules that Go names in each program inside', async () => {
  for (const arch of ['x64', 'arm64']) {
    const path = join(releases[0] ?? '', `minik8s-linux-${arch}.cdx.json`);
    const document = JSON.parse(await readFile(path, 'utf8')) as {
      components: readonly { readonly purl: string }[];
    };
    const listed = new Set(document.components.map(({ purl }) => decodeURIComponent(purl)));
    for (const name of ['etcd', 'kustomize']) {
      const { stdout } = await run(goProgram(root), ['version', '-m', join(base, name)]);
      const modules = [...stdout.matchAll(/^\tdep\t(\S+)\t(\S+)/gm)].map(
        ([, module, version]) => `pkg:golang/${module}@${version}`,
      );
      assert.ok(modules.length > 5, stdout);
      assert.deepEqual(
        modules.filter((one) => !listed.has(one)),
        [],
        `${name} for ${arch}`,
      );
    }
  }
});
