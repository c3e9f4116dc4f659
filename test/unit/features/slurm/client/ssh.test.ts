/** One SSH connection over a client of ssh2 whose answers a test gives, withholds or damages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { queryObjects } from 'node:v8';
import type { ConnectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import { fingerprint } from '../../../../../src/features/slurm/client/known-hosts.ts';
import {
  ConnectionError,
  SshConnection,
  UnreadableFile,
} from '../../../../../src/features/slurm/client/ssh.ts';
import { FakeSshClient } from '../../../../fixtures/slurm/fake-ssh-client.ts';

const key = Buffer.from('the key of the host');
const settings: ConnectionSettings = {
  ...{ host: 'login', port: 2222, user: 'me', password: 'secret' },
  knownHosts: `[login]:2222 ssh-rsa ${key.toString('base64')}`,
};
const never = new AbortController().signal;
/** Lets all reactions of promises run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function connected() {
  const client = new FakeSshClient();
  const opening = SshConnection.open(settings, client.asClient);
  client.emit('ready');
  return { client, connection: await opening };
}

/** Resolves to the fault and message of an attempt to connect that fails. */
async function fault(fail: (client: FakeSshClient) => void, given: Partial<ConnectionSettings> = {}) {
  const client = new FakeSshClient();
  client.configFault = given.privateKey === undefined ? undefined : new Error('Cannot parse privateKey: bad');
  const opening = SshConnection.open({ ...settings, ...given }, client.asClient);
  const failing = opening.then(
    () => assert.fail('the connection was opened'),
    (error: unknown) => error,
  );
  fail(client);
  const error = await failing;
  assert.ok(error instanceof ConnectionError, String(error));
  return { client, text: `${error.fault}: ${error.message}` };
}
const verifier = ({ config }: FakeSshClient) => config?.hostVerifier as (key: Buffer) => boolean;

describe('SshConnection.open', () => {
  it('passes the settings to ssh2 and resolves when the user is authenticated', async () => {
    const client = new FakeSshClient();
    let isOpen = false;
    void SshConnection.open(settings, client.asClient).then(() => {
      isOpen = true;
    });
    await turn();
    assert.equal(isOpen, false);
    client.emit('ready');
    await turn();
    assert.deepEqual([isOpen, client.isUndelayed, client.destroyed], [true, true, 0]);
    const { host, port, username, password, algorithms, readyTimeout, keepaliveInterval, keepaliveCountMax } =
      client.config ?? {};
    assert.deepEqual([host, port, username, password], ['login', 2222, 'me', 'secret']);
    assert.deepEqual(algorithms, { serverHostKey: ['rsa-sha2-512', 'rsa-sha2-256'] });
    assert.deepEqual([readyTimeout, keepaliveInterval, keepaliveCountMax], [20_000, 10_000, 3]);
    assert.ok(!('privateKey' in (client.config ?? {})) && !('passphrase' in (client.config ?? {})));
  });
  it('passes a private key and its passphrase, without a password', async () => {
    const client = new FakeSshClient();
    const { password: _, ...rest } = settings;
    void SshConnection.open({ ...rest, privateKey: 'KEY', passphrase: 'word' }, client.asClient);
    const { privateKey, passphrase } = client.config ?? {};
    assert.deepEqual([privateKey, passphrase], ['KEY', 'word']);
    assert.ok(!('password' in (client.config ?? {})));
  });
  it('accepts only the host key of knownHosts and reports the fingerprint of another', async () => {
    const other = Buffer.from('another key');
    const { client, text } = await fault((one) => {
      assert.equal(verifier(one)(key), true);
      assert.equal(verifier(one)(other), false);
      one.emit('error', Object.assign(new Error('Host denied'), { level: 'handshake' }));
    });
    assert.equal(
      text,
      `HostKeyUnknown: the key of login port 2222 is not the one that knownHosts in the Secret has: it is ${fingerprint(other)}`,
    );
    assert.equal(client.destroyed, 1);
  });
  it('does not connect without a host key for this host and port', async () => {
    const { client, text } = await fault(() => undefined, { knownHosts: 'login ssh-rsa AAAA' });
    assert.equal(text, 'HostKeyUnknown: knownHosts in the Secret has no key for login port 2222');
    assert.equal(client.config, undefined);
  });
  it('names the fault of each kind of failure', async () => {
    const failure = (message: string, level?: string) => (one: FakeSshClient) =>
      one.emit('error', Object.assign(new Error(message), { level }));
    for (const [fail, text] of [
      [
        failure('All configured authentication methods failed', 'client-authentication'),
        'AuthenticationFailed: login port 2222 rejects me with the credentials in the Secret',
      ],
      [
        failure('no matching host key format', 'handshake'),
        'HostKeyUnknown: login port 2222 has no host key of a type listed in knownHosts of the Secret',
      ],
      [failure('bad passphrase'), 'InvalidSecret: privateKey in the Secret cannot be used: bad passphrase'],
      [
        failure('connect ECONNREFUSED', 'client-socket'),
        'HostAway: login port 2222 cannot be reached: connect ECONNREFUSED',
      ],
      [
        (one: FakeSshClient) => one.emit('close'),
        'HostAway: login port 2222 cannot be reached: the host has closed the connection',
      ],
    ] as const) {
      const { client, text: found } = await fault(fail);
      assert.deepEqual([found, client.destroyed > 0], [text, true]);
    }
    const { text } = await fault(() => undefined, { privateKey: 'bad' });
    assert.equal(
      text,
      'InvalidSecret: privateKey in the Secret cannot be used: Cannot parse privateKey: bad',
    );
  });
  it('reports the first of several errors, and survives the others', async () => {
    const { text } = await fault((one) => {
      one.emit('error', new Error('first'));
      one.emit('error', new Error('second'));
      one.emit('close');
    });
    assert.equal(text, 'HostAway: login port 2222 cannot be reached: first');
  });
});

describe('SshConnection.run', () => {
  it('sends the script to a plain sh and returns both streams and the status', async () => {
    const { client, connection } = await connected();
    const ran = connection.run('the script', never);
    await turn();
    const [channel] = client.channels;
    assert.deepEqual([client.commands, channel?.script], [['sh'], 'the script']);
    channel?.emit('data', Buffer.from([0xe2, 0x82]));
    channel?.emit('data', Buffer.from([0xac]));
    channel?.finish(3, ' more', 'err');
    assert.deepEqual(await ran, { code: 3, stdout: '€ more', stderr: 'err' });
  });
  it('returns no status for a program that a signal ended, or whose channel closed without one', async () => {
    const { client, connection } = await connected();
    const killed = connection.run('a', never);
    await turn();
    client.channels[0]?.finish(null, 'half');
    assert.deepEqual(await killed, { code: undefined, stdout: 'half', stderr: '' });
    const cut = connection.run('b', never);
    await turn();
    client.channels[1]?.emit('close');
    assert.deepEqual(await cut, { code: undefined, stdout: '', stderr: '' });
  });
  it('rejects with the error of the channel', async () => {
    const { client, connection } = await connected();
    const ran = assert.rejects(connection.run('a', never), /the channel broke/);
    await turn();
    client.channels[0]?.emit('error', new Error('the channel broke'));
    client.channels[0]?.emit('close');
    await ran;
  });
  it('accepts 16 MiB of output in total, and closes the channel of a program that writes more', async () => {
    const { client, connection } = await connected();
    const half = Buffer.alloc(8 * 1024 * 1024, 'x');
    for (const more of [0, 1]) {
      const ran = connection.run('a', never);
      const settled = ran.then(
        ({ stdout, stderr }) => stdout.length + stderr.length,
        (error: Error) => error.message,
      );
      await turn();
      const channel = client.channels.at(-1);
      channel?.emit('data', half);
      channel?.stderr.emit('data', half);
      if (more > 0) channel?.emit('data', Buffer.from('x'));
      channel?.finish(0);
      assert.equal(
        await settled,
        more === 0 ? 16_777_216 : 'the answer of the host is longer than 16777216 bytes',
      );
      assert.equal(channel?.closed, more);
    }
  });
  it('closes the channel and rejects with the reason when its signal aborts', async () => {
    const { client, connection } = await connected();
    const stop = new AbortController();
    const ran = connection.run('a', stop.signal);
    await turn();
    stop.abort(new Error('too late'));
    await assert.rejects(ran, /too late/);
    assert.equal(client.channels[0]?.closed, 1);
    const { length } = client.commands;
    await assert.rejects(connection.run('b', stop.signal), /too late/);
    assert.equal(client.commands.length, length, 'nothing is sent after the abort');
  });
  it('closes a channel that opens after the abort, without the script', async () => {
    const { client, connection } = await connected();
    client.holdsExec = true;
    const stop = new AbortController();
    const ran = connection.run('a', stop.signal);
    await turn();
    stop.abort(new Error('too late'));
    await assert.rejects(ran, /too late/);
    client.openings[0]?.();
    await turn();
    assert.deepEqual([client.channels[0]?.closed, client.channels[0]?.script], [1, undefined]);
  });
  it('does not close the channel when the signal aborts after the answer', async () => {
    const { client, connection } = await connected();
    const stop = new AbortController();
    const ran = connection.run('a', stop.signal);
    await turn();
    client.channels[0]?.finish(0, 'done');
    assert.equal((await ran).stdout, 'done');
    stop.abort(new Error('later'));
    assert.equal(client.channels[0]?.closed, 0);
  });
  it('keeps the data of two concurrent programs separate', async () => {
    const { client, connection } = await connected();
    const [one, two] = [connection.run('1', never), connection.run('2', never)];
    await turn();
    client.channels[1]?.finish(2, 'two');
    client.channels[0]?.finish(1, 'one');
    assert.deepEqual([(await one).stdout, (await two).stdout], ['one', 'two']);
    assert.deepEqual([(await one).code, (await two).code], [1, 2]);
  });
  it('keeps no data of answered requests while the connection is open', async () => {
    const { client, connection } = await connected();
    const promises = () => queryObjects(Promise, { format: 'count' });
    const before = promises();
    for (let i = 0; i < 500; i++) {
      const ran = connection.run('a', never);
      await turn();
      client.channels.pop()?.finish(0, 'answer');
      await ran;
    }
    const more = promises() - before;
    assert.ok(more < 250, `${more} promises more than before 500 requests`);
    connection.close();
  });
});

describe('the end of an SshConnection', () => {
  it('rejects every request without an answer, and all later ones, with the first reason', async () => {
    for (const [end, why] of [
      [(client: FakeSshClient) => client.emit('close'), 'the connection was lost'],
      [(client: FakeSshClient) => client.emit('end'), 'the connection was lost'],
      [
        (client: FakeSshClient) => client.emit('error', new Error('ECONNRESET')),
        'the connection was lost: ECONNRESET',
      ],
    ] as const) {
      const { client, connection } = await connected();
      client.holdsExec = true;
      const waiting = connection.run('a', never);
      client.holdsExec = false;
      const begun = connection.run('b', never);
      await turn();
      const outcomes = Promise.allSettled([waiting, begun]);
      end(client);
      client.emit('error', new Error('another'));
      client.emit('close');
      const over = await connection.over;
      assert.deepEqual([over.fault, over.message], ['HostAway', why]);
      assert.deepEqual(
        (await outcomes).map((one) => one.status === 'rejected' && one.reason === over),
        [true, true],
      );
      for (const later of [
        connection.run('c', never),
        connection.read('/f', 0, 1),
        connection.write('/f', Buffer.of(1), 0o600),
      ])
        await assert.rejects(later, (error) => error === over);
      assert.deepEqual(client.files.size, 0);
    }
  });
  it('is reported to its owner after an error, without an attempt to close it', async () => {
    const { client, connection } = await connected();
    client.emit('error', new Error('ECONNRESET'));
    assert.equal((await connection.over).message, 'the connection was lost: ECONNRESET');
    assert.deepEqual([client.ended, client.destroyed], [0, 0]);
  });
  it('leaves an earlier answer unchanged', async () => {
    const { client, connection } = await connected();
    const ran = connection.run('a', never);
    await turn();
    client.channels[0]?.finish(0, 'done');
    client.emit('close');
    assert.equal((await ran).stdout, 'done');
  });
  it('is reported as closed after close, which ends and destroys the client', async () => {
    const { client, connection } = await connected();
    const ran = connection.run('a', never);
    await turn();
    connection.close();
    assert.deepEqual([client.ended, client.destroyed], [1, 1]);
    client.emit('close');
    await assert.rejects(ran, /the connection was closed/);
    assert.equal((await connection.over).message, 'the connection was closed');
  });
  it('is reported by a request that ssh2 refuses before it emits an event', async () => {
    const { client, connection } = await connected();
    client.throws = new Error('Not connected');
    await assert.rejects(
      connection.run('a', never),
      (error) =>
        error instanceof ConnectionError &&
        error.fault === 'HostAway' &&
        error.message === 'the connection was lost: Not connected',
    );
  });
});

describe('files of an SshConnection', () => {
  it('are read in blocks of at most 32 KiB, even if the host returns other sizes', async () => {
    const { client, connection } = await connected();
    const data = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
    client.files.set('/f', data);
    assert.deepEqual(await connection.read('/f', 7, 70_000), data.subarray(7, 70_007));
    assert.deepEqual(client.reads, ['32768 from 7', '32768 from 32775', '4464 from 65543']);
    client.mostPerRead = 1000;
    assert.deepEqual(await connection.read('/f', 90_000, 5000), data.subarray(90_000, 95_000));
    assert.deepEqual([client.sessions, client.handles.size], [1, 0]);
  });
  it('end when the host reports their end', async () => {
    const { client, connection } = await connected();
    client.files.set('/f', Buffer.from('0123456789'));
    assert.equal(String(await connection.read('/f', 6, 100)), '6789');
    assert.equal((await connection.read('/f', 10, 100)).length, 0);
  });
  it('are closed after an error while they are read', async () => {
    const { client, connection } = await connected();
    client.files.set('/f', Buffer.from('x'));
    client.readFault = 4;
    await assert.rejects(connection.read('/f', 0, 1), /Failure/);
    assert.equal(client.handles.size, 0);
  });
  it('are unreadable if opening them would fail again', async () => {
    const { client, connection } = await connected();
    for (const [code, isLasting] of [
      ...[2, 3, 5].map((one) => [one, true] as const),
      ...[1, 4, 6, 7].map((one) => [one, false] as const),
    ]) {
      client.openFault = code;
      await assert.rejects(
        connection.read('/f', 0, 1),
        (error) => error instanceof UnreadableFile === isLasting,
        String(code),
      );
    }
  });
  it('are written completely with their mode, and a failed write rejects', async () => {
    const { client, connection } = await connected();
    await connection.write('/f', Buffer.from('text'), 0o700);
    assert.deepEqual([String(client.files.get('/f')), client.modes.get('/f')], ['text', 0o700]);
    client.writeFault = new Error('No space left');
    await assert.rejects(connection.write('/g', Buffer.from('text'), 0o600), /No space left/);
  });
  it('use a new session after a session that the host has rejected', async () => {
    const { client, connection } = await connected();
    client.files.set('/f', Buffer.from('x'));
    client.sessionFault = new Error('refused');
    await assert.rejects(connection.read('/f', 0, 1), /refused/);
    assert.equal(String(await connection.read('/f', 0, 1)), 'x');
    assert.equal(client.sessions, 2);
  });
});
