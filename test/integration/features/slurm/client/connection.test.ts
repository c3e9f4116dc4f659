/** The connection to a login host: verification of the host, loss of the connection, and cleanup. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import { replaceable } from '../../../../../src/base/current.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import type { ConnectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import { type HostState, LoginHost } from '../../../../../src/features/slurm/client/login-host.ts';
import { followConnection } from '../../../../../src/roles/slurm/connection-files.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { LoginServer } from '../../../../fixtures/slurm/login-server.ts';

async function world(context: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'minik8s-login-'));
  const servers: LoginServer[] = [];
  const server = async () => {
    const one = await LoginServer.start({ home });
    servers.push(one);
    return one;
  };
  const stop = new AbortController();
  context.after(async () => {
    stop.abort();
    for (const one of servers) await one.stop();
    rmSync(home, { recursive: true, force: true });
  });
  const client = (settings: ConnectionSettings | string) => {
    const clock = new FakeClock();
    const connection = replaceable(settings);
    const states: HostState[] = [];
    const host = new LoginHost({
      ...{ connection, clock, signal: stop.signal, log: silentLogger },
      random: new SeededRandom(1),
      onState: (state) => void states.push(state),
    });
    const says = (reason: HostState['reason']) =>
      eventually(systemClock, reason, () => states.at(-1)?.reason === reason);
    return { clock, connection, states, host, says };
  };
  return { home, server, client, stop };
}

const other = (settings: ConnectionSettings, stranger: ConnectionSettings): ConnectionSettings => ({
  ...settings,
  knownHosts: stranger.knownHosts.replace(/^\S+/, `[${settings.host}]:${settings.port}`),
});

describe('a login host', () => {
  it('is sent nothing if its key is not the known one', async (context) => {
    const { server, client } = await world(context);
    const [one, stranger] = [await server(), await server()];
    const { host, says, states, connection, clock } = client(other(one.settings, stranger.settings));
    const ran = host.run('ask', 'echo hello');
    await says('HostKeyUnknown');
    assert.match(states.at(-1)?.message ?? '', /is not the one that knownHosts .* has: it is SHA256:/);
    assert.deepEqual(one.passwords, []);
    assert.ok((clock.nextIn ?? 0) >= 15_000, 'it is not asked again soon');
    connection.replace({ ...one.settings, knownHosts: one.settings.knownHosts.replace(/^\S+/, 'elsewhere') });
    await eventually(systemClock, 'no key', () => /has no key for/.test(states.at(-1)?.message ?? ''));
    assert.deepEqual(one.passwords, []);
    connection.replace(one.settings);
    assert.equal((await ran).stdout, 'hello\n');
  });
  it('is retried rarely with a wrong password, but at once after a change of the Secret', async (context) => {
    const { server, client } = await world(context);
    const one = await server();
    const { host, says, connection, clock } = client({ ...one.settings, password: 'wrong' });
    const ran = host.run('ask', 'echo hello');
    await says('AuthenticationFailed');
    assert.ok((clock.nextIn ?? 0) >= 15_000, `${clock.nextIn}`);
    connection.replace('the Secret has no key host');
    await says('InvalidSecret');
    connection.replace(one.settings);
    assert.equal((await ran).stdout, 'hello\n');
    assert.deepEqual(one.passwords, ['wrong', one.password]);
  });
  it('is not tried with an invalid key, and the reason contains no part of the key', async (context) => {
    const { server, client } = await world(context);
    const one = await server();
    const keys = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' },
    });
    for (const [privateKey, passphrase] of [
      ['no key at all', undefined],
      [keys.privateKey, undefined],
      [keys.privateKey, 'wrong'],
    ] as const) {
      const { host, says, states, clock } = client({
        ...one.settings,
        password: undefined,
        privateKey,
        passphrase,
      });
      host.run('ask', 'true').catch(() => undefined);
      await says('InvalidSecret');
      const { message } = states.at(-1) ?? { message: '' };
      assert.match(message, /^privateKey in the Secret cannot be used: /);
      assert.ok(!message.includes('no key at all') && !message.includes('wrong'), message);
      assert.ok((clock.nextIn ?? 0) >= 15_000, 'it is not asked again soon');
    }
    assert.equal(one.entries, 0);
  });
  it('is tried again soon if it is unreachable', async (context) => {
    const { server, client } = await world(context);
    const one = await server();
    const { host, says, clock } = client(one.settings);
    await one.stop();
    const ran = host.run('ask', 'echo hello');
    ran.catch(() => undefined);
    await says('HostAway');
    assert.ok((clock.nextIn ?? Number.POSITIVE_INFINITY) <= 1000, `${clock.nextIn}`);
  });
  it('is not used if the Secret names another host before the login has ended', async (context) => {
    const { server, client } = await world(context);
    const [before, after] = [await server(), await server()];
    const gate = Promise.withResolvers<void>();
    before.letIn = gate.promise;
    const { host, connection } = client(before.settings);
    const ran = host.run('ask', 'echo hello');
    await eventually(systemClock, 'it is asked', () => before.passwords.length === 1);
    connection.replace(after.settings);
    gate.resolve();
    assert.equal((await ran).stdout, 'hello\n');
    assert.deepEqual([before.runs, after.runs], [0, 1]);
    connection.replace(before.settings);
    await eventually(systemClock, 'the other is used', async () => {
      await host.run('ask', 'true').catch(() => undefined);
      return before.runs === 1;
    });
  });
  it('is reconnected after the connection was lost, and running requests report the loss', async (context) => {
    const { server, client } = await world(context);
    const one = await server();
    const { host, states, clock } = client(one.settings);
    assert.equal((await host.run('ask', 'echo hello; echo no >&2; exit 3')).code, 3);
    const cut = host.run('ask', 'sleep 100');
    await eventually(systemClock, 'it runs', () => one.runs === 2);
    one.cut();
    await assert.rejects(cut, /the connection was lost/);
    await eventually(systemClock, 'it is there again', () => one.entries === 2);
    assert.equal((await host.run('ask', 'echo again')).stdout, 'again\n');
    assert.deepEqual(
      states.map(({ reason }) => reason),
      ['Connected', 'HostAway', 'Connected'],
    );
    assert.equal(one.entries, 2);
    assert.equal(clock.pending, 0, 'nothing is timed any more');
  });
  it('fails a command that does not end in time, unless it is a build', async (context) => {
    const { server, client } = await world(context);
    const one = await server();
    const { host, clock } = client(one.settings);
    const asked = assert.rejects(host.run('ask', 'sleep 100'), /did not answer within 120 s/);
    const built = host.run('build', 'while [ ! -e go ]; do sleep 0.05; done; echo built');
    await eventually(systemClock, 'both run', () => one.runs === 2);
    await clock.advance(3_600_000);
    await asked;
    await host.run('ask', ': >go');
    assert.equal((await built).stdout, 'built\n');
  });
  it('fails a command whose output exceeds the maximum, and remains usable', async (context) => {
    const { server, client } = await world(context);
    const { host } = client((await server()).settings);
    await assert.rejects(host.run('ask', 'head -c 20000000 /dev/zero'), /longer than 16777216 bytes/);
    assert.equal((await host.run('ask', 'echo hello')).stdout, 'hello\n');
  });
  it('writes whole files, reads parts of files, and leaves none open', async (context) => {
    const { server, client, home } = await world(context);
    const one = await server();
    const { host } = client(one.settings);
    const data = Buffer.from('0123456789'.repeat(20_000));
    await host.write(join(home, 'file'), data, 0o700);
    assert.deepEqual(readFileSync(join(home, 'file')), data);
    assert.equal(statSync(join(home, 'file')).mode & 0o777, 0o700);
    writeFileSync(join(home, 'empty'), '');
    for (const [path, offset, length, wanted] of [
      ['file', 5, 10, data.subarray(5, 15)],
      ['file', 199_990, 100, data.subarray(199_990)],
      ['file', 0, 300_000, data],
      ['file', 300_000, 10, Buffer.alloc(0)],
      ['empty', 0, 10, Buffer.alloc(0)],
    ] as const)
      assert.deepEqual(await host.read(join(home, path), offset, length), wanted);
    await assert.rejects(host.read(join(home, 'none'), 0, 1), /ENOENT|No such file/);
    await eventually(systemClock, 'all are closed', () => one.open === 0);
  });
  it('is disconnected when the client ends', async (context) => {
    const { server, client, stop } = await world(context);
    const one = await server();
    const { host, states } = client(one.settings);
    const ran = host.run('ask', 'sleep 100');
    await eventually(systemClock, 'it runs', () => one.runs === 1);
    const told = states.length;
    stop.abort();
    await assert.rejects(ran);
    await assert.rejects(host.run('ask', 'echo hello'));
    await one.stop();
    assert.equal(states.length, told, 'a client that has ended says nothing of its connection');
    assert.equal(one.runs, 1);
  });
});

it("changes of the Secret's files are reported, and equal files are not", async (context) => {
  const { home, stop } = await world(context);
  // Replaces the file atomically, as the kubelet does.
  const write = (name: string, text: string) => {
    writeFileSync(join(home, '.next'), text);
    renameSync(join(home, '.next'), join(home, name));
  };
  const texts = { host: 'one', user: 'me', password: 'x', knownHosts: 'ssh-ed25519 AAAA' };
  for (const [name, text] of Object.entries(texts)) write(name, text);
  const connection = await followConnection(home, silentLogger, stop.signal);
  const news: string[] = [];
  connection.onChange((value) => void news.push(typeof value === 'string' ? value : value.host));
  for (let i = 0; i < 5; i++) for (const [name, text] of Object.entries(texts)) write(name, text);
  write('host', 'two');
  await eventually(systemClock, 'the change is reported', () => news.includes('two'));
  assert.deepEqual(news, ['two']);
});
