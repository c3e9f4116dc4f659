import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeDigests } from '../../../../config/release/digests.ts';

const script = join(import.meta.dirname, '../../../../config/release/install.sh');

interface Result {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Fixture {
  readonly release: string;
  readonly bin: string;
  /** Runs the script on a machine of that name. */
  install(machine: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Result>;
  /** Makes a folder for PATH that has the programs of the script, those that are named, and no others. */
  pathWith(...programs: readonly string[]): string;
}

/** Makes a release whose executables are scripts that print their version. */
async function fixture(context: TestContext): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-install-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const [release, bin, shims] = ['release', 'bin', 'shims'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [release, shims]) mkdirSync(each);
  for (const arch of ['x64', 'arm64'])
    writeFileSync(join(release, `minik8s-linux-${arch}`), `#!/bin/sh\necho "1.2.3 for ${arch}: $*"\n`);
  await writeDigests(release);
  const install: Fixture['install'] = (machine, args, env = {}) => {
    const uname = join(shims, 'uname');
    writeFileSync(uname, `#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo ${machine}\n`);
    chmodSync(uname, 0o755);
    const { PATH = process.env.PATH, ...more } = env;
    const options = { env: { PATH: `${shims}:${PATH}`, ...more } };
    return new Promise((done) => {
      execFile('/bin/sh', [script, ...args], options, (error, stdout, stderr) =>
        done({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  };
  const pathWith: Fixture['pathWith'] = (...programs) => {
    const path = mkdtempSync(join(folder, 'path-'));
    for (const name of [...ownPrograms, ...programs]) symlinkSync(placeOf(name), join(path, name));
    return path;
  };
  return { release, bin, install, pathWith };
}

/** Programs of the script, besides curl, wget and sha256sum. */
const ownPrograms = ['cat', 'chmod', 'cp', 'grep', 'id', 'mkdir', 'mktemp', 'mv', 'rm', 'sh', 'tail'];

/** Returns the path of a program of this machine. */
function placeOf(name: string): string {
  const places = (process.env.PATH ?? '').split(':').map((folder) => join(folder, name));
  const place = places.find((path) => existsSync(path));
  assert.ok(place !== undefined, `${name} is missing; run bin/setup --tests`);
  return realpathSync(place);
}

/** Serves the release at /v1, the first bytes of its executable at /cut, and a page of text at /login. */
async function serve(context: TestContext, release: string) {
  const server = createServer(({ url = '' }, response) => {
    // A request of a proxy's client has the whole address.
    const [, place, name = ''] = /^(?:http:\/\/[^/]+)?\/(\w+)\/(\S+)$/.exec(url) ?? [];
    if (place === 'login') return response.end('<html>Log in first</html>\n');
    if (!['v1', 'cut'].includes(place ?? '') || !readdirSync(release).includes(name))
      return response.writeHead(404).end();
    const content = readFileSync(join(release, name));
    if (place === 'v1' || name === 'SHA256SUMS') return response.end(content);
    response.writeHead(200, { 'content-length': content.length });
    return response.write(content.subarray(0, 5), () => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const httpWarning =
  'install.sh: warning: http is not encrypted: the digests find damaged files, not forged ones\n';

for (const [machine, arch] of [
  ['x86_64', 'x64'],
  ['aarch64', 'arm64'],
] as const)
  test(`install.sh installs the executable for ${machine} from a directory, and can be run again`, async (context) => {
    const { release, bin, install } = await fixture(context);
    for (let count = 0; count < 2; count++) {
      const result = await install(machine, [release, '--bin-dir', bin]);
      assert.deepEqual(result, {
        status: 0,
        stdout: `installed ${bin}/minik8s 1.2.3 for ${arch}: version\nnext: ${bin}/minik8s install up, which runs a cluster on this machine as a service\n`,
        stderr: '',
      });
    }
    assert.deepEqual(readdirSync(bin), ['minik8s']);
    assert.equal(statSync(join(bin, 'minik8s')).mode & 0o777, 0o755);
  });

test('install.sh downloads from the URL of the environment', async (context) => {
  const { release, bin, install } = await fixture(context);
  const base = await serve(context, release);
  const { status, stderr } = await install('x86_64', ['--bin-dir', bin], { MINIK8S_RELEASE: `${base}/v1/` });
  assert.deepEqual([status, stderr], [0, httpWarning]);
  assert.match(readFileSync(join(bin, 'minik8s'), 'utf8'), /for x64/);
});

for (const program of ['curl', 'wget'])
  test(`install.sh reports what ${program} cannot download in one line, and keeps the installed file`, async (context) => {
    const { release, bin, install, pathWith } = await fixture(context);
    const base = await serve(context, release);
    const env = { PATH: pathWith('sha256sum', program) };
    const from = (address: string) => install('aarch64', [address, '--bin-dir', bin], env);
    assert.equal((await from(`${base}/v1`)).status, 0);
    const before = readFileSync(join(bin, 'minik8s'), 'utf8');
    const refused: [address: string, problem: RegExp][] = [
      [`${base}/v2`, /^cannot download http:\/\/127\.0\.0\.1:\d+\/v2\/SHA256SUMS: \S.*404/],
      [`${base}/cut`, /^cannot download http:\S+\/cut\/minik8s-linux-arm64: \S/],
      ['http://127.0.0.1:1', /^cannot download http:\/\/127\.0\.0\.1:1\/SHA256SUMS: \S/],
      [`${base}/login`, /^SHA256SUMS of http:\S+\/login does not name minik8s-linux-arm64$/],
    ];
    for (const [address, problem] of refused) {
      const { status, stdout, stderr } = await from(address);
      assert.deepEqual([status, stdout], [1, '']);
      const [line = '', ...more] = stderr
        .replace(httpWarning, '')
        .replace(/^install\.sh: /, '')
        .split('\n');
      assert.match(line, problem);
      assert.deepEqual(more, [''], stderr);
    }
    assert.equal(readFileSync(join(bin, 'minik8s'), 'utf8'), before);
    assert.deepEqual(readdirSync(bin), ['minik8s']);
  });

test('install.sh downloads through the proxy of the environment', async (context) => {
  const { release, bin, install } = await fixture(context);
  const proxy = await serve(context, release);
  const at = ['http://release.test/v1', '--bin-dir', bin];
  const { status, stderr } = await install('x86_64', at, { http_proxy: proxy });
  assert.deepEqual([status, stderr], [0, httpWarning]);
  const absent = await install('x86_64', at, { http_proxy: 'http://127.0.0.1:1' });
  assert.match(absent.stderr, /cannot download http:\/\/release\.test\/v1\/SHA256SUMS: .*127\.0\.0\.1/);
});

test('install.sh names a missing program', async (context) => {
  const { release, bin, install, pathWith } = await fixture(context);
  const from = async (address: string, path: string) =>
    (await install('x86_64', [address, '--bin-dir', bin], { PATH: path })).stderr;
  assert.equal(await from(release, pathWith()), 'install.sh: sha256sum is missing\n');
  assert.equal(
    await from('https://release.test', pathWith('sha256sum')),
    'install.sh: curl and wget are missing: install one of them, or name a local directory\n',
  );
  assert.equal(await from(release, pathWith('sha256sum')), '');
});

test('install.sh reports a target that cannot be written', async (context) => {
  const { release, bin, install, pathWith } = await fixture(context);
  const into = async (target: string, path = process.env.PATH ?? '') => {
    const { status, stderr } = await install('x86_64', [release, '--bin-dir', target], { PATH: path });
    assert.equal(status, 1);
    return stderr;
  };
  const user = pathWith('sha256sum');
  rmSync(join(user, 'id'));
  writeFileSync(join(user, 'id'), '#!/bin/sh\necho 1000\n', { mode: 0o755 });
  // Nobody can make a folder in /proc.
  const advice = 'run as root, or add --bin-dir DIR';
  assert.equal(await into('/proc/new', user), `install.sh: cannot create /proc/new; ${advice}\n`);
  assert.equal(await into('/proc', user), `install.sh: cannot write to /proc; ${advice}\n`);
  const root = pathWith('sha256sum');
  rmSync(join(root, 'id'));
  writeFileSync(join(root, 'id'), '#!/bin/sh\necho 0\n', { mode: 0o755 });
  assert.equal(
    await into('/proc', root),
    'install.sh: cannot write to /proc; name another directory with --bin-dir DIR\n',
  );
  mkdirSync(join(bin, 'minik8s'), { recursive: true });
  assert.equal(
    await into(bin),
    `install.sh: ${bin}/minik8s is a directory; remove it, or add --bin-dir DIR\n`,
  );
  assert.deepEqual(readdirSync(join(bin, 'minik8s')), []);
});

test('install.sh replaces an installed file that runs, which continues', async (context) => {
  const { release, bin, install } = await fixture(context);
  mkdirSync(bin);
  const installed = join(bin, 'minik8s');
  copyFileSync(placeOf('sleep'), installed);
  const running = spawn(installed, ['600']);
  context.after(() => running.kill('SIGKILL'));
  await once(running, 'spawn');
  const { status, stderr } = await install('x86_64', [release, '--bin-dir', bin]);
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(readFileSync(installed, 'utf8'), /for x64/);
  assert.equal(running.exitCode, null);
  assert.equal(readlinkSync(`/proc/${running.pid}/exe`), `${installed} (deleted)`);
});

test('install.sh does nothing when its text was cut by a download', async (context) => {
  const { release, bin } = await fixture(context);
  const whole = readFileSync(script, 'utf8');
  for (const part of [0.3, 0.6, 0.9, 0.99]) {
    const cut = whole.slice(0, whole.length * part);
    spawnSync('/bin/sh', ['-s', '--', release, '--bin-dir', bin], { input: cut });
    assert.equal(existsSync(bin), false, `${part} of the script`);
  }
  const all = spawnSync('/bin/sh', ['-s', '--', release, '--bin-dir', bin], { input: whole });
  assert.equal(all.status, 0);
  const wrong = spawnSync('/bin/sh', ['-s', '--', '--wrong'], { input: whole, encoding: 'utf8' });
  assert.deepEqual([wrong.status, wrong.stderr.split('\n')[0]], [2, usageLine]);
});

const usageLine = 'usage: sh install.sh URL-OR-DIRECTORY [--bin-dir DIR]';

test('install.sh rejects a file with another digest, and keeps the installed one', async (context) => {
  const { release, bin, install } = await fixture(context);
  await install('x86_64', [release, '--bin-dir', bin]);
  const before = readFileSync(join(bin, 'minik8s'), 'utf8');
  appendFileSync(join(release, 'minik8s-linux-x64'), '# changed\n');
  const { status, stderr } = await install('x86_64', [release, '--bin-dir', bin]);
  assert.equal(status, 1);
  assert.equal(
    stderr,
    `install.sh: minik8s-linux-x64 of ${release} is damaged: its digest is not the one in SHA256SUMS; nothing was installed\n`,
  );
  writeFileSync(join(release, 'SHA256SUMS'), '');
  assert.match(
    (await install('x86_64', [release, '--bin-dir', bin])).stderr,
    /does not name minik8s-linux-x64/,
  );
  assert.deepEqual(readdirSync(bin), ['minik8s']);
  assert.equal(readFileSync(join(bin, 'minik8s'), 'utf8'), before);
});

test('install.sh refuses a file that does not run', async (context) => {
  const { release, bin, install } = await fixture(context);
  writeFileSync(join(release, 'minik8s-linux-x64'), '#!/bin/sh\nexit 3\n');
  await writeDigests(release);
  const { status, stderr } = await install('x86_64', [release, '--bin-dir', bin]);
  assert.deepEqual(
    [status, stderr],
    [1, 'install.sh: minik8s-linux-x64 does not run on this machine; nothing was installed\n'],
  );
  writeFileSync(
    join(release, 'minik8s-linux-x64'),
    '#!/bin/sh\necho "libstdc++.so.6 is missing" >&2; exit 127\n',
  );
  await writeDigests(release);
  assert.equal(
    (await install('x86_64', [release, '--bin-dir', bin])).stderr,
    'install.sh: minik8s-linux-x64 does not run on this machine (libstdc++.so.6 is missing); nothing was installed\n',
  );
  assert.deepEqual(readdirSync(bin), []);
});

test('install.sh names the program alone if its directory is in the PATH', async (context) => {
  const { release, bin, install } = await fixture(context);
  const env = { PATH: `${process.env.PATH}:${bin}` };
  const { stdout } = await install('x86_64', [release, '--bin-dir', bin], env);
  assert.match(stdout, /^next: minik8s install up, which/m);
});

test('install.sh requires the directory or URL of the release, and a supported machine', async (context) => {
  const { release, bin, install } = await fixture(context);
  const refused = async (machine: string, args: readonly string[]) => {
    const { status, stdout, stderr } = await install(machine, [...args, '--bin-dir', bin]);
    assert.deepEqual([status, stdout], [1, '']);
    return stderr;
  };
  assert.match(await refused('x86_64', []), /say where the release is/);
  assert.match(await refused('riscv64', [release]), /no minik8s for riscv64/);
  for (const address of ['ftp://host/path', `file://${release}`])
    assert.match(await refused('x86_64', [address]), /^\S+ \S+: only https, http and local directories/);
  assert.match(await refused('x86_64', [join(release, 'none')]), /none is no directory/);
  assert.equal((await install('x86_64', ['--unknown'])).status, 2);
  assert.equal((await install('x86_64', [release, release])).status, 2);
});

test('install.sh has no finding of shellcheck', async () => {
  await new Promise<void>((done, fail) => {
    execFile('shellcheck', ['--shell=sh', script], (error, stdout) =>
      error === null ? done() : fail(new Error(stdout || error.message)),
    );
  });
});
