import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
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
    const options = { env: { PATH: `${shims}:${process.env.PATH}`, ...env } };
    return new Promise((done) => {
      execFile('sh', [script, ...args], options, (error, stdout, stderr) =>
        done({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  };
  return { release, bin, install };
}

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
        stdout: `installed ${bin}/minik8s 1.2.3 for ${arch}: version\nnext: minik8s install up, which runs a cluster on this machine as a service\n`,
        stderr: '',
      });
    }
    assert.deepEqual(readdirSync(bin), ['minik8s']);
    assert.equal(statSync(join(bin, 'minik8s')).mode & 0o777, 0o755);
  });

test('install.sh downloads from the URL of the environment', async (context) => {
  const { release, bin, install } = await fixture(context);
  const server = createServer(({ url = '' }, response) => {
    const name = url.replace('/v1/', '');
    if (!readdirSync(release).includes(name)) response.writeHead(404).end();
    else response.end(readFileSync(join(release, name)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const at = (path: string) => ({ MINIK8S_RELEASE: `http://127.0.0.1:${port}/${path}` });
  const { status, stderr } = await install('x86_64', ['--bin-dir', bin], at('v1/'));
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(readFileSync(join(bin, 'minik8s'), 'utf8'), /for x64/);
  const missing = await install('x86_64', ['--bin-dir', bin], at('v2'));
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /install\.sh: cannot download http:\/\/127\.0\.0\.1:\d+\/v2\/SHA256SUMS\n$/);
});

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
  assert.deepEqual(readdirSync(bin), []);
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
  assert.match(await refused('x86_64', ['ftp://host/path']), /only https, http and local directories/);
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
