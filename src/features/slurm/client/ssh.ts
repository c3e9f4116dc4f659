/** One SSH connection: a promise interface to ssh2. */

import type { Client, ClientChannel, SFTPWrapper } from 'ssh2';
import ssh2 from 'ssh2';
import { errorMessage } from '../../../base/log.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { fingerprint, hostKeys, signatures } from './known-hosts.ts';

export type ConnectionFault =
  | 'InvalidSecret'
  | 'HostKeyUnknown'
  | 'AuthenticationFailed'
  | 'HostAway'
  | 'HostFailed';

/** A connection failed; the message is for the job's condition. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly fault: ConnectionFault;
  constructor(fault: ConnectionFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

/** The host permanently refuses to read a file; the message is the host's. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

export interface Ran {
  /** Exit status; undefined if a signal ended the program. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Maximum bytes of one stream of a program; a program that writes more has failed. */
const maxOutput = 16 * 1024 * 1024;
const readyMs = 20_000;
const keepaliveMs = 10_000;

export class SshConnection {
  readonly #client: Client;
  #sftp: Promise<SFTPWrapper> | undefined;
  /** Resolves when the connection has ended, with the reason. */
  readonly over: Promise<ConnectionError>;
  readonly #lost: (error: ConnectionError) => void;
  #ended: ConnectionError | undefined;
  /** Rejects each request without an answer. Reactions to `over` would keep answered requests in memory. */
  readonly #unanswered = new Set<(error: ConnectionError) => void>();

  private constructor(client: Client) {
    const { promise, resolve } = Promise.withResolvers<ConnectionError>();
    this.#client = client;
    this.over = promise;
    this.#lost = (error) => {
      this.#ended ??= error;
      resolve(this.#ended);
      for (const reject of this.#unanswered) reject(this.#ended);
      this.#unanswered.clear();
    };
    const away = (error?: Error) =>
      this.#lost(
        new ConnectionError('HostAway', `the connection was lost${error ? `: ${error.message}` : ''}`),
      );
    client
      .on('error', away)
      .on('close', () => away())
      .on('end', () => away());
  }

  /**
   * Resolves when the user is authenticated. The host's key is verified before any data of the user is sent.
   */
  static open(settings: ConnectionSettings, client = new ssh2.Client()): Promise<SshConnection> {
    const { host, port, user, password, privateKey, passphrase, knownHosts } = settings;
    const keys = hostKeys(knownHosts, host, port);
    const { promise, resolve, reject } = Promise.withResolvers<SshConnection>();
    if (keys.types.length === 0) {
      reject(
        new ConnectionError('HostKeyUnknown', `knownHosts in the Secret has no key for ${host} port ${port}`),
      );
      return promise;
    }
    let refused: ConnectionError | undefined;
    const failed = (error: Error & { level?: string }) => {
      client.destroy();
      reject(refused ?? connectionError(error, settings));
    };
    client
      .once('ready', () => {
        client.removeListener('error', failed);
        // Each request is one small packet, which must not be delayed until the next one.
        client.setNoDelay(true);
        resolve(new SshConnection(client));
      })
      .on('error', failed)
      // A connection may emit further errors after the first.
      .on('error', () => undefined)
      .once('close', () => failed(new Error('the host has closed the connection')));
    try {
      client.connect({
        host,
        port,
        username: user,
        ...(password === undefined ? {} : { password }),
        ...(privateKey === undefined ? {} : { privateKey }),
        ...(passphrase === undefined ? {} : { passphrase }),
        algorithms: { serverHostKey: keys.types.flatMap(signatures) as never },
        hostVerifier: (key: Buffer) => {
          if (keys.has(key)) return true;
          const message = `the key of ${host} port ${port} is not the one that knownHosts in the Secret has: it is ${fingerprint(key)}`;
          refused = new ConnectionError('HostKeyUnknown', message);
          return false;
        },
        readyTimeout: readyMs,
        keepaliveInterval: keepaliveMs,
        keepaliveCountMax: 3,
      });
    } catch (error) {
      // The key cannot be parsed, or the passphrase is wrong.
      failed(Object.assign(error as Error, { level: 'client-configuration' }));
    }
    return promise;
  }

  /**
   * Runs the script with a plain sh. Rejects with ConnectionError if the connection ends, and with the
   * signal's reason if the signal aborts.
   */
  async run(script: string, signal: AbortSignal): Promise<Ran> {
    signal.throwIfAborted();
    const givenUp = Promise.withResolvers<never>();
    let channel: ClientChannel | undefined;
    const abort = () => {
      channel?.close();
      givenUp.reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    const ran = async () => {
      const own = await this.#unlessOver<ClientChannel>((done) => this.#client.exec('sh', done));
      channel = own;
      if (signal.aborted) own.close();
      signal.throwIfAborted();
      return this.#unlessOver<Ran>((done) => collect(own, script, done));
    };
    try {
      return await Promise.race([ran(), givenUp.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Writes the whole file; its folder must exist. */
  async write(path: string, data: Uint8Array, mode: number): Promise<void> {
    const sftp = await this.#session();
    await this.#unlessOver<void>((done) =>
      sftp.writeFile(path, Buffer.from(data), { mode }, (error) => done(error ?? undefined)),
    );
  }

  /**
   * Reads `length` bytes from `offset` on, fewer at the end of the file. Rejects with UnreadableFile if a
   * retry would not help.
   */
  async read(path: string, offset: number, length: number): Promise<Buffer> {
    const sftp = await this.#session();
    const handle = await this.#unlessOver<Buffer>((done) =>
      sftp.open(path, 'r', (error, opened) => done(error && openError(error), opened)),
    );
    try {
      const buffer = Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const got = await this.#unlessOver<number>((done) =>
          sftp.read(
            handle,
            buffer,
            filled,
            Math.min(length - filled, 32_768),
            offset + filled,
            (error, count) =>
              // SFTP reports the end of the file as an error (SSH_FX_EOF).
              (error as { code?: number } | undefined)?.code === 1 ? done(undefined, 0) : done(error, count),
          ),
        );
        if (got === 0) break;
        filled += got;
      }
      return buffer.subarray(0, filled);
    } finally {
      sftp.close(handle, () => undefined);
    }
  }

  close(): void {
    this.#lost(new ConnectionError('HostAway', 'the connection was closed'));
    this.#client.end();
    this.#client.destroy();
  }

  #session(): Promise<SFTPWrapper> {
    this.#sftp ??= this.#unlessOver<SFTPWrapper>((done) => this.#client.sftp(done)).catch((error) => {
      this.#sftp = undefined;
      throw error;
    });
    return this.#sftp;
  }

  #unlessOver<T>(call: (done: (error: Error | undefined, value?: T) => void) => void): Promise<T> {
    if (this.#ended) return Promise.reject(this.#ended);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#unanswered.add(reject);
    const answered = (error: Error | undefined, value?: T) => {
      this.#unanswered.delete(reject);
      if (error) reject(error);
      else resolve(value as T);
    };
    try {
      call(answered);
    } catch (error) {
      // The library ssh2 throws when the connection has ended, before it reports the end.
      const why = `the connection was lost: ${errorMessage(error)}`;
      answered(this.#ended ?? new ConnectionError('HostAway', why, error));
    }
    return promise;
  }
}

/**
 * Permanent errors: SSH_FX_NO_SUCH_FILE, SSH_FX_PERMISSION_DENIED, and SSH_FX_BAD_MESSAGE, which OpenSSH's
 * server returns for a name that is too long.
 */
const lasting: readonly unknown[] = [2, 3, 5];

const openError = (error: Error & { code?: unknown }): Error =>
  lasting.includes(error.code) ? new UnreadableFile(error.message, { cause: error }) : error;

function collect(
  channel: ClientChannel,
  script: string,
  done: (error: Error | undefined, ran?: Ran) => void,
): void {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  let size = 0;
  const into = (chunks: Buffer[]) => (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxOutput) return void chunks.push(chunk);
    channel.close();
    done(new Error(`the answer of the host is longer than ${maxOutput} bytes`));
  };
  channel.on('data', into(stdout)).stderr.on('data', into(stderr));
  let code: number | undefined;
  channel.on('exit', (status: number | null) => {
    code = status ?? undefined;
  });
  channel.on('error', (error: Error) => done(error));
  channel.on('close', () =>
    done(undefined, {
      code,
      stdout: Buffer.concat(stdout).toString(),
      stderr: Buffer.concat(stderr).toString(),
    }),
  );
  channel.end(script);
}

function connectionError(
  error: Error & { level?: string },
  { host, port, user }: ConnectionSettings,
): ConnectionError {
  const at = `${host} port ${port}`;
  if (error.level === 'client-authentication')
    return new ConnectionError(
      'AuthenticationFailed',
      `${at} rejects ${user} with the credentials in the Secret`,
    );
  // Messages of ssh2 about a key contain no part of the key.
  if (error.level === 'client-configuration' || /parse privateKey|passphrase/i.test(error.message))
    return new ConnectionError('InvalidSecret', `privateKey in the Secret cannot be used: ${error.message}`);
  if (/no matching host key/i.test(error.message))
    return new ConnectionError(
      'HostKeyUnknown',
      `${at} has no host key of a type listed in knownHosts of the Secret`,
    );
  return new ConnectionError('HostAway', `${at} cannot be reached: ${error.message}`, error);
}
