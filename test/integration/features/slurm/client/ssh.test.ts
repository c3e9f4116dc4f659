/** One SSH connection: its faults by name, and what is left of a request that is given up or cut off. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { ConnectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import {
  ConnectionError,
  SshConnection,
  UnreadableFile,
} from '../../../../../src/features/slurm/client/ssh.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import { freePort } from '../../../../fixtures/free-port.ts';
import { LoginServer } from '../../../../fixtures/slurm/login-server.ts';

async function world(context: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'minik8s-ssh-'));
  const server = await LoginServer.start({ home });
  const open: SshConnection[] = [];
  context.after(async () => {
    for (const one of open) one.close();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  });
  const connect = async (settings: Partial<ConnectionSettings> = {}) => {
    const connection = await SshConnection.open({ ...server.settings, ...settings });
    open.push(connection);
    return connection;
  };
  /** Resolves to the fault of an attempt. */
  const fault = async (settings: Partial<ConnectionSettings>) => {
    const error = await connect(settings).then(
      () => assert.fail('it has connected'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ConnectionError, String(error));
    return `${error.fault}: ${error.message}`;
  };
  const idle = () => eventually(systemClock, 'no program runs', () => server.programs === 0);
  return { home, server, connect, fault, idle };
}
const never = new AbortController().signal;

it('a failed connection has a fault, and a host without a known key is not contacted', async (context) => {
  const { server, connect, fault } = await world(context);
  const { port } = server.settings;
  const at = `127.0.0.1 port ${port}`;
  assert.equal(
    await fault({ knownHosts: 'elsewhere ssh-ed25519 AAAA' }),
    `HostKeyUnknown: knownHosts in the Secret has no key for ${at}`,
  );
  assert.equal(
    await fault({ password: 'x' }),
    `AuthenticationFailed: ${at} rejects me with the credentials in the Secret`,
  );
  assert.equal(server.connected, 1);
  // The host has no key of this type.
  assert.equal(
    await fault({ knownHosts: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ' }),
    `HostKeyUnknown: ${at} has no host key of a type listed in knownHosts of the Secret`,
  );
  assert.match(
    await fault({ password: undefined, privateKey: 'no key' }),
    /^InvalidSecret: privateKey in the Secret cannot be used: /,
  );
  assert.equal((await (await connect()).run('echo in', never)).stdout, 'in\n');
});

it('a private key that the host rejects is AuthenticationFailed, with or without a passphrase', async (context) => {
  const { fault } = await world(context);
  for (const passphrase of [undefined, 'right']) {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding:
        passphrase === undefined
          ? { type: 'pkcs1', format: 'pem' }
          : { type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase },
    });
    assert.match(await fault({ password: undefined, privateKey, passphrase }), /^AuthenticationFailed: /);
  }
});

it('a port without a server is HostAway', async (context) => {
  const { fault } = await world(context);
  assert.match(
    await fault({ port: await freePort(), knownHosts: 'ssh-ed25519 AAAA' }),
    /^HostAway: 127\.0\.0\.1 port \d+ cannot be reached: .*ECONNREFUSED/,
  );
});

it('a program’s stdout, stderr and exit status are returned separately', async (context) => {
  const { connect } = await world(context);
  const connection = await connect();
  const script = 'printf out; printf err >&2; printf more; exit 3';
  assert.deepEqual(await connection.run(script, never), { code: 3, stdout: 'outmore', stderr: 'err' });
  assert.deepEqual(await connection.run('', never), { code: 0, stdout: '', stderr: '' });
});

it('a program whose request is aborted is ended on the host, and the connection stays open', async (context) => {
  const { connect, server, idle } = await world(context);
  const connection = await connect();
  for (const isEarly of [false, true]) {
    const stop = new AbortController();
    const before = server.runs;
    const ran = connection.run('sleep 100', stop.signal);
    const given = assert.rejects(ran, /not any more/);
    if (!isEarly) {
      await eventually(systemClock, 'it runs', () => server.programs === 1);
      // Once a later request is answered, the channel of the first one is open on both sides.
      await connection.run('true', never);
    }
    stop.abort(new Error('not any more'));
    await given;
    await eventually(systemClock, 'it has begun', () => server.runs === before + (isEarly ? 1 : 2));
    await idle();
  }
  const { runs } = server;
  await assert.rejects(connection.run('true', AbortSignal.abort(new Error('before'))), /before/);
  assert.equal((await connection.run('echo still', never)).stdout, 'still\n');
  assert.equal(server.runs, runs + 1, 'a request with an aborted signal runs nothing');
});

it('a connection closed here reports that, one closed by the host is lost, and neither accepts requests', async (context) => {
  const { connect, server, home, idle } = await world(context);
  for (const [end, why] of [
    [(one: SshConnection) => one.close(), 'the connection was closed'],
    [() => server.cut(), 'the connection was lost'],
  ] as const) {
    const connection = await connect();
    const ran = assert.rejects(connection.run('sleep 100', never), new RegExp(why));
    await eventually(systemClock, 'it runs', () => server.programs === 1);
    end(connection);
    await ran;
    const over = await connection.over;
    assert.deepEqual([over.fault, over.message], ['HostAway', why]);
    await assert.rejects(connection.run('true', never), over);
    await assert.rejects(connection.write(join(home, 'x'), Buffer.from('x'), 0o600), over);
    await assert.rejects(connection.read(join(home, 'x'), 0, 1), over);
    await idle();
  }
});

it('a file is requested again after a refused session, but not if it cannot be read', async (context) => {
  const { connect, server, home } = await world(context);
  const connection = await connect();
  const [file, denied] = [join(home, 'file'), join(home, 'denied')];
  for (const path of [file, denied]) writeFileSync(path, 'text');
  server.refusesFiles = true;
  await assert.rejects(connection.read(file, 0, 4), (error) => !(error instanceof UnreadableFile));
  server.refusesFiles = false;
  assert.equal(String(await connection.read(file, 1, 2)), 'ex');
  server.unreadable = ['denied'];
  for (const path of [denied, join(home, 'none')])
    await assert.rejects(connection.read(path, 0, 4), (error) => error instanceof UnreadableFile);
  // The host answers the read of a folder with a general failure, not with a missing or denied file.
  await assert.rejects(connection.read(home, 0, 4), (error) => !(error instanceof UnreadableFile));
  await assert.rejects(
    connection.write(join(home, 'none/x'), Buffer.from('x'), 0o600),
    /ENOENT|No such file/,
  );
  await eventually(systemClock, 'no file is open', () => server.open === 0);
});
