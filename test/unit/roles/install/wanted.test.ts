import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { UsageError } from '../../../../src/base/usage-error.ts';
import type { Role } from '../../../../src/installation/plan/role.ts';
import { systemExec } from '../../../../src/os/exec.ts';
import { readWanted } from '../../../../src/roles/install/wanted.ts';

const parent = mkdtempSync(join(tmpdir(), 'minik8s-wanted-'));
after(() => rmSync(parent, { recursive: true }));
const config = join(parent, 'given.yaml');

interface Given {
  readonly role?: Role;
  readonly text?: string;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Reads the settings; `text` is the content of the configuration file. */
function wanted({ role = 'up', text = '', flags = {}, environment = {} }: Given) {
  writeFileSync(config, text, { mode: 0o600 });
  const sources = { environment, directory: '/srv/here', warn: assert.fail };
  return readWanted(role, { ...sources, flags: { config, ...flags } });
}

test('settings of flags, variables and file become one configuration; variables are listed without values', async () => {
  const { fromEnvironment, ...rest } = await wanted({
    text: 'port: 7443 # ours\nmax-pods: 20\n',
    flags: { 'max-pods': '30' },
    environment: { MINIK8S_MAX_PODS: '40', MINIK8S_NODE_NAME: 'a', MINIK8S_CONFIG: '/none', PATH: '/bin' },
  });
  assert.deepEqual(rest, {
    role: 'up',
    dataDir: '/var/lib/minik8s',
    dockerSocket: '/var/run/docker.sock',
    config: 'port: 7443 # ours\nmax-pods: 30\nnode-name: a\n',
    stopSeconds: 90,
    hasLogFile: false,
  });
  assert.deepEqual(fromEnvironment, ['node-name']);
});

test('relative paths of files are resolved, since the service runs in another directory', async () => {
  const text = await wanted({
    flags: { 'docker-socket': 'run/d.sock', 'token-auth-file': '/etc/tokens' },
    environment: { MINIK8S_ETCD_CA: '../ca.pem' },
  });
  assert.equal(text.dockerSocket, '/srv/here/run/d.sock');
  assert.match(text.config, /^token-auth-file: \/etc\/tokens$/m);
  assert.match(text.config, /^etcd-ca: \/srv\/ca.pem$/m);
  await assert.rejects(
    wanted({ text: 'docker-socket: d.sock\n' }),
    new UsageError(`${config}: docker-socket: expected a path from the root`),
  );
  const { config: empty } = await wanted({ environment: { MINIK8S_ETCD_CA: '' } });
  assert.equal(empty, 'etcd-ca: ""\n', 'an empty value is not the directory');
});

test('a master that joins gets the URL and the hash from its flags, and the token from the environment', async () => {
  const token = 'abcdef.0123456789abcdef';
  const hash = `sha256:${'0'.repeat(64)}`;
  const { config: text, fromEnvironment } = await wanted({
    role: 'master',
    flags: { join: 'https://192.0.2.10:6443', 'ca-cert-hash': hash, token: 'not.used' },
    environment: { MINIK8S_TOKEN: token },
  });
  assert.deepEqual(text.trimEnd().split('\n').sort(), [
    `ca-cert-hash: ${hash}`,
    'join: https://192.0.2.10:6443',
    `token: ${token}`,
  ]);
  assert.deepEqual(fromEnvironment, ['token']);
});

test('a file that can be read only once, such as /dev/stdin, is accepted', async () => {
  const pipe = join(parent, 'pipe');
  await systemExec('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'echo "max-pods: 77" >"$1"', 'sh', pipe]);
  const ended = new Promise((resolve) => writer.once('exit', resolve));
  const { config: text } = await wanted({ flags: { config: pipe } });
  assert.equal(text, 'max-pods: 77\n');
  assert.equal(await ended, 0);
});

test('errors name the flag, or the key of the file that the user gave', async () => {
  await assert.rejects(wanted({ flags: { 'max-pods': 'x' } }), /^UsageError: --max-pods: "x"/);
  await assert.rejects(wanted({ environment: { MINIK8S_MAX_PODS: 'x' } }), /^UsageError: MINIK8S_MAX_PODS/);
  await assert.rejects(
    wanted({ text: 'max-pods: x\n' }),
    new RegExp(`^UsageError: ${config}: line 1: max-pods: "x"`),
  );
  await assert.rejects(
    wanted({ text: 'maxpods: 3\n' }),
    new RegExp(`^UsageError: ${config}: line 1: maxpods`),
  );
  await assert.rejects(
    wanted({ flags: { config: join(parent, 'none') } }),
    /cannot read the configuration file .*none: there is no such file/,
  );
});

test('no temporary file with the settings is left, since it may hold a token', async () => {
  const before = process.env.TMPDIR;
  const empty = join(parent, 'drafts');
  mkdirSync(empty);
  process.env.TMPDIR = empty;
  try {
    await wanted({ text: 'max-pods: 20\n' });
    await assert.rejects(wanted({ text: 'max-pods: x\n' }), new RegExp(config));
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  assert.deepEqual(readdirSync(empty), []);
});

const server = 'https://192.0.2.10:6443';

test('two spellings of a setting are refused during the installation, as the service would refuse them later', async () => {
  await assert.rejects(
    wanted({ role: 'node', text: `server: ${server}\nname: a\n`, flags: { 'node-name': 'b' } }),
    new RegExp(`^UsageError: ${config}: name: is another spelling of node-name`),
  );
});

test('--join is another name of the flag --server, and takes precedence over MINIK8S_SERVER', async () => {
  const environment = { MINIK8S_SERVER: 'https://192.0.2.99:6443' };
  const { config: text, fromEnvironment } = await wanted({
    role: 'node',
    flags: { join: server },
    environment,
  });
  assert.equal(text, `server: ${server}\n`);
  assert.deepEqual(fromEnvironment, []);
  await assert.rejects(
    wanted({ role: 'node', flags: { join: server, server } }),
    new UsageError('--join and --server are the same: give one of them'),
  );
  await assert.rejects(wanted({ role: 'node' }), /no cluster is given to join/);
});

test('the cluster and the name are read before anything is changed; masters have none', async () => {
  const hash = `sha256:${'a'.repeat(64)}`;
  const flags = { join: server, 'ca-cert-hash': hash };
  assert.deepEqual((await wanted({ role: 'node', flags: { ...flags, 'node-name': 'b' } })).joins, {
    hash,
    nodeName: 'b',
  });
  assert.equal((await wanted({ role: 'node', flags })).joins?.nodeName, hostname().toLowerCase());
  assert.equal((await wanted({ role: 'up' })).joins, undefined);
});

test('a join line that was cut is refused, with the name of the part, and without the token', async () => {
  const hash = `sha256:${'a'.repeat(64)}`;
  const refused = (line: object, token: string) =>
    assert.rejects(
      wanted({ role: 'node', flags: { join: server, ...line }, environment: { MINIK8S_TOKEN: token } }),
      (error: Error) => {
        assert.ok(error instanceof UsageError && !error.message.includes('\n'));
        assert.match(error.message, /^(MINIK8S_TOKEN|--ca-cert-hash): /);
        assert.ok(!error.message.includes('0123456789'));
        return true;
      },
    );
  await refused({ 'ca-cert-hash': hash }, 'abcdef.0123456789');
  await refused({ 'ca-cert-hash': hash.slice(0, -1) }, 'abcdef.0123456789abcdef');
});

test('the stop timeout of the service is longer than the grace period of its pods', async () => {
  assert.equal((await wanted({ flags: { 'shutdown-grace-period': '10m' } })).stopSeconds, 630);
  assert.equal((await wanted({ role: 'master' })).stopSeconds, 90);
});

test('a value of --join that is not a URL is reported under that name', async () => {
  for (const name of ['join', 'server'])
    await assert.rejects(wanted({ role: 'node', flags: { [name]: 'foo' } }), (error: Error) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, new RegExp(`^--${name}: "foo": `));
      return true;
    });
});
