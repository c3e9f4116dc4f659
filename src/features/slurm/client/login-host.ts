/** Connection to the login host: one connection for all operations, reopened whenever it is lost. */
import { aborted, onAbort } from '../../../base/abort.ts';
import { Backoff } from '../../../base/backoff.ts';
import { type Clock, pause } from '../../../base/clock.ts';
import type { Current } from '../../../base/current.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { Lane } from './lanes.ts';
import { ConnectionError, type ConnectionFault, type Ran, SshConnection } from './ssh.ts';

/**
 * Maximum number of channels of each lane: seven in all, and one more for SFTP, while sshd allows ten
 * (MaxSessions). Builds and submissions to a full queue do not block queries.
 */
const widths = { ask: 3, submit: 2, build: 2 } as const;
export type LaneName = keyof typeof widths;

/** Timeout in milliseconds of a script; builds have no timeout. */
const limits: Readonly<Record<LaneName, number | undefined>> = {
  ask: 120_000,
  submit: 300_000,
  build: undefined,
};

/** State of the connection; undefined before the first attempt has ended. */
export type HostState =
  | { readonly connected: true; readonly reason: 'Connected'; readonly message: string }
  | { readonly connected: false; readonly reason: ConnectionFault; readonly message: string };

/** Connection to the host over which scripts are run, and files are written and read. */
export type HostConnection = Pick<SshConnection, 'run' | 'write' | 'read' | 'close' | 'over'>;

export interface LoginHostOptions {
  readonly connection: Current<ConnectionSettings | string>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onState: (state: HostState) => void;
  /** Opens a connection; default over SSH. Rejects with ConnectionError. */
  readonly open?: ((settings: ConnectionSettings) => Promise<HostConnection>) | undefined;
}

export class LoginHost {
  readonly #options: LoginHostOptions;
  readonly #lanes = {
    ask: new Lane(widths.ask),
    submit: new Lane(widths.submit),
    build: new Lane(widths.build),
  };
  readonly #files = new Lane(4);
  readonly #away: Backoff;
  readonly #refused: Backoff;
  #opening: Promise<HostConnection> | undefined;
  /** Open connection. */
  #current: HostConnection | undefined;
  #changed = new AbortController();

  constructor(options: LoginHostOptions) {
    this.#options = options;
    this.#away = new Backoff({ initialMs: 500, maxMs: 60_000 }, options.random);
    // Many hosts block clients that often retry a wrong password.
    this.#refused = new Backoff({ initialMs: 30_000, maxMs: 600_000 }, options.random);
    onAbort(
      options.signal,
      options.connection.onChange(() => this.#renew()),
    );
    onAbort(options.signal, () => this.#current?.close());
  }

  /**
   * Runs a script; waits while the host is unreachable. Rejects with ConnectionError if the connection is
   * lost in the meantime; the script may have been executed then.
   */
  run(lane: LaneName, script: string): Promise<Ran> {
    return this.#lanes[lane].run(async () => {
      const connection = await this.#connection();
      const limit = new AbortController();
      const late = limits[lane];
      const timer =
        late === undefined
          ? undefined
          : this.#options.clock.after(late, () =>
              limit.abort(new Error(`the host did not answer within ${late / 1000} s`)),
            );
      try {
        return await connection.run(script, AbortSignal.any([limit.signal, this.#options.signal]));
      } finally {
        timer?.cancel();
      }
    });
  }

  write(path: string, data: Uint8Array, mode: number): Promise<void> {
    return this.#files.run(async () => (await this.#connection()).write(path, data, mode));
  }

  read(path: string, offset: number, length: number): Promise<Buffer> {
    return this.#files.run(async () => (await this.#connection()).read(path, offset, length));
  }

  #connection(): Promise<HostConnection> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  #opened(open: HostConnection, { host, user }: { readonly host: string; readonly user: string }) {
    this.#current = open;
    this.#away.reset();
    this.#refused.reset();
    this.#options.onState({
      connected: true,
      reason: 'Connected',
      message: `connected to ${host} as ${user}`,
    });
    void open.over.then((why) => this.#lose(why));
    return open;
  }

  async #open(): Promise<HostConnection> {
    const { connection, signal, open: connect = SshConnection.open } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const changed = this.#changed.signal;
      const either = AbortSignal.any([signal, changed]);
      try {
        const { value } = connection;
        if (typeof value === 'string') throw new ConnectionError('InvalidSecret', value);
        const open = await connect(value);
        if (!either.aborted) return this.#opened(open, value);
        open.close();
      } catch (error) {
        if (signal.aborted) throw error;
        await this.#restAfter(error, either);
      }
    }
  }

  /** Reports why the connection failed, and waits until the next attempt is due or the signal aborts. */
  async #restAfter(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, log, onState } = this.#options;
    const known =
      error instanceof ConnectionError ? error : new ConnectionError('HostFailed', errorMessage(error));
    const isAway = known.fault === 'HostAway' || known.fault === 'HostFailed';
    const delay = (isAway ? this.#away : this.#refused).next();
    log.warn('cannot connect', { reason: known.fault, why: known.message, againInMs: Math.round(delay) });
    onState({ connected: false, reason: known.fault, message: known.message });
    await pause(clock, delay, signal);
  }

  #lose(why: ConnectionError): void {
    this.#opening = undefined;
    this.#current = undefined;
    if (this.#options.signal.aborted) return;
    this.#options.log.info('connection lost', { why: why.message });
    this.#options.onState({ connected: false, reason: why.fault, message: why.message });
    // Reconnects even if there is nothing to do, so that the recovery of the host is noticed.
    this.#connection().catch(() => undefined);
  }

  /**
   * Closes the connection after a change of the Secret, because it was authenticated with the old one. An
   * attempt in progress is repeated with the new one.
   */
  #renew(): void {
    this.#changed.abort();
    this.#changed = new AbortController();
    this.#away.reset();
    this.#refused.reset();
    this.#current?.close();
  }

  /** Resolves when the client stops. */
  get stopped(): Promise<void> {
    return aborted(this.#options.signal);
  }
}
